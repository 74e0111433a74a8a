"""From a live microphone to a live loudspeaker, through a real sound server whose devices are null sinks."""

from __future__ import annotations

import importlib.util
import os
import queue
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

from predtui.audio import checking, devices
from predtui.audio.found import Found, Level, Say, Told
from predtui.audio.level import FAINT_DB
from predtui.commands.turn import until_ready
from predtui.config import load
from predtui.errors import PredtuiError
from predtui.lab.bench.recording import speak
from predtui.runtime.build import make_pipeline, resolved
from predtui.runtime.pipeline import Pipeline
from predtui.runtime.stages import STAGES
from predtui.settings import AudioSettings
from predtui.state import events as ev

PROGRAMS = ("pulseaudio", "pactl", "paplay")
PLUGIN = "libasound_module_pcm_pulse.so"
QUESTION, REPLY = "what is the capital of france", "The capital of France is Paris."
PATIENCE_S = 30.0


def missing() -> str:
    """What a sound server lacks here."""
    if absent := [program for program in PROGRAMS if not shutil.which(program)]:
        return f"{', '.join(absent)} not installed (make soundserver)"
    if not any(Path("/usr/lib").glob(f"*/alsa-lib/{PLUGIN}")):
        return "ALSA's plugin for PulseAudio is not installed (make soundserver)"
    try:
        devices.portaudio()
    except PredtuiError as error:
        return str(error)
    return ""


pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


class Room:
    """A loudspeaker, a microphone, and what is said into it."""

    def __init__(self, folder: Path, rate: int, echo: str) -> None:
        """``echo``: how loud the microphone hears the loudspeaker; empty: not at all."""
        self._file = folder / "said.wav"
        self._folder, self._rate, self._echo = folder, rate, echo
        self.open()

    def open(self) -> None:
        """The sound server, with its devices."""
        folder = self._folder
        (folder / "native").unlink(missing_ok=True)
        sink = f"module-null-sink rate={self._rate} sink_name="
        modules = [
            f"module-native-protocol-unix socket={folder / 'native'}",
            f"{sink}room",
            "module-remap-sink master=room sink_name=speaker" if self._echo else f"{sink}speaker",
            "module-remap-source master=room.monitor source_name=mic",
        ]
        options = ["-n", "--daemonize=no", "--exit-idle-time=-1", "--disallow-exit", "--use-pid-file=no"]
        loaded = [argument for module in modules for argument in ("-L", module)]
        self._server = subprocess.Popen(["pulseaudio", *options, *loaded], stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE_S
        while subprocess.run(["pactl", "set-default-sink", "speaker"], capture_output=True, check=False).returncode:
            if time.monotonic() > end:
                self.close()
                pytest.skip("PulseAudio is installed, and does not start here")
            time.sleep(0.1)
        self.ask("set-default-source", "mic")
        if self._echo:
            self.ask("set-sink-volume", "speaker", self._echo)

    def ask(self, *arguments: str) -> str:
        return subprocess.run(["pactl", *arguments], check=True, capture_output=True, text=True).stdout

    def say(self, text: str) -> None:
        """As somebody speaks: until it is said."""
        speak(text, self._file, "en-us", 150, 0.05)
        subprocess.run(["paplay", "--device=room", str(self._file)], check=True)

    def close(self) -> None:
        self._server.kill()
        self._server.wait()


BUSY = 3
"""Programs a processor that want to run at once, from which on sound comes too late to be heard as it was said."""


@pytest.fixture
def room(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    if os.getloadavg()[0] > BUSY * (os.cpu_count() or 1):
        pytest.skip("the machine is too busy to hear live sound in time")
    alsa = tmp_path / "asoundrc"
    alsa.write_text("</usr/share/alsa/alsa.conf>\npcm.!default { type pulse }\nctl.!default { type pulse }\n")
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(alsa))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("PULSE_SERVER", f"unix:{tmp_path / 'native'}")
    monkeypatch.setenv("PULSE_COOKIE", str(tmp_path / "cookie"))
    made = Room(tmp_path, *getattr(request, "param", (48000, "")))
    yield made
    made.close()


class Assistant:
    """The app but for its screen."""

    def __init__(self, hands_free: bool) -> None:
        self.events: list[ev.Event] = []
        inbox: queue.SimpleQueue[ev.Event] = queue.SimpleQueue()
        settings = resolved(load({"audio.hands_free": hands_free}), embedded=True)
        self.pipeline: Pipeline = make_pipeline(settings)
        self.pipeline.subscribe(inbox.put)
        self.pipeline.subscribe(self.events.append)
        self.pipeline.start()
        until_ready(inbox, lambda event: None, set(STAGES))

    def until(self, met: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not met():
            if time.monotonic() > end:
                pytest.fail(self.told)
            time.sleep(0.01)

    @property
    def told(self) -> str:
        """What has happened, for one who wonders why."""
        quiet = (ev.AudioFrame, ev.Work, ev.Usage, ev.SpeechChunk, ev.Candidate, ev.Continuation)
        return "\n".join(f"{event.time:.2f} {event}" for event in self.events if not isinstance(event, quiet))

    def listen(self) -> None:
        """Until it does: a null sink's first sound is late."""
        before = len(self.of(ev.AudioFrame))
        self.pipeline.talk(True)
        self.until(lambda: len(self.of(ev.AudioFrame)) > before)

    def of(self, kind: type[ev.Event]) -> list[ev.Event]:
        return [event for event in self.events if type(event) is kind]


@pytest.fixture
def assistant(room: Room, request: pytest.FixtureRequest) -> Iterator[Assistant]:
    made = Assistant(request.param)
    yield made
    made.pipeline.stop()


@pytest.mark.parametrize("room", [(16000, "100%"), (44100, "100%"), (48000, "100%")], indirect=True)
@pytest.mark.parametrize("assistant", [False], indirect=True, ids=["key"])
def test_a_reply_that_is_talked_over_hears_no_words_of_its_own(room: Room, assistant: Assistant) -> None:
    pipeline = assistant.pipeline
    assistant.listen()
    room.say(QUESTION)
    time.sleep(0.5)  # what is said is still on its way
    pipeline.talk(False)
    assistant.until(lambda: pipeline.state.audible)
    assert pipeline.state.prompt == QUESTION
    time.sleep(0.7)
    pipeline.talk(True)
    assistant.until(lambda: len(assistant.of(ev.Listen)) == 2)
    time.sleep(1.0)
    pipeline.talk(False)
    assistant.until(lambda: pipeline.state.phase == "done")
    assert pipeline.state.prompt == ""
    first = pipeline.state.conversation[0]
    assert first.assistant == REPLY
    assert first.interrupted
    assert REPLY.startswith(first.remembered)
    assert 0 < len(first.remembered) < len(REPLY)


@pytest.mark.parametrize("assistant", [True], indirect=True, ids=["hands-free"])
def test_a_hands_free_conversation_ends_its_turns_and_goes_on(room: Room, assistant: Assistant) -> None:
    pipeline = assistant.pipeline
    assistant.listen()
    for turn, (said, reply) in enumerate([(QUESTION, REPLY), ("what is ten plus twenty", "10 plus 20 is 30.")], 1):
        room.say(said)
        assistant.until(lambda turn=turn: len(assistant.of(ev.Listen)) == turn + 1)  # type: ignore[misc]
        assert [message.content for message in pipeline.state.history[-2:]] == [said, reply]
    assert {event.reason for event in assistant.of(ev.Endpoint)} == {"silence"}  # type: ignore[attr-defined]


@pytest.mark.parametrize("assistant", [False], indirect=True, ids=["key"])
def test_devices_that_go_are_told_of_and_taken_again(room: Room, assistant: Assistant) -> None:
    """The sound server ends while a reply plays, and later while somebody speaks."""
    pipeline = assistant.pipeline

    def say(words: str) -> None:
        assistant.listen()
        room.say(words)
        time.sleep(0.5)

    def lacking() -> set[str]:
        return {status.lacks for status in pipeline.state.stages.values() if status.lacks}

    say(QUESTION)
    pipeline.talk(False)
    assistant.until(lambda: pipeline.state.audible)
    room.close()
    assistant.until(lambda: pipeline.state.phase == "done")
    assert pipeline.state.reply_text == REPLY
    assistant.until(lambda: "loudspeaker" in lacking())
    room.open()
    assistant.until(lambda: not lacking())

    say("what is ten plus twenty")
    pipeline.talk(False)
    assistant.until(lambda: pipeline.state.phase == "done" and pipeline.state.number == 2)
    assert pipeline.state.history[-1].content == "10 plus 20 is 30.", assistant.told
    assert lacking() == set()

    say(QUESTION)
    room.close()
    assistant.until(lambda: pipeline.state.phase != "listening")
    assert lacking() >= {"microphone"}
    assert [end.reason for end in assistant.of(ev.Endpoint)][-1] == "lost"  # type: ignore[attr-defined]
    room.open()
    assistant.until(lambda: not lacking())
    say(QUESTION)
    pipeline.talk(False)
    assistant.until(lambda: pipeline.state.phase == "done" and bool(pipeline.state.reply_text))
    assert pipeline.state.reply_text == REPLY


@pytest.mark.skipif(importlib.util.find_spec("livekit") is None, reason="there is no echo canceller for this machine")
@pytest.mark.parametrize("room", [(48000, "68%"), (44100, "")], indirect=True, ids=["loudspeaker", "headphones"])
@pytest.mark.parametrize("assistant", [True], indirect=True, ids=["hands-free"])
def test_a_hands_free_reply_is_talked_over_by_a_person_and_not_by_itself(room: Room, assistant: Assistant) -> None:
    """Its own voice comes to the microphone 10 dB softer than it plays, or does not."""
    pipeline = assistant.pipeline
    assistant.listen()
    room.say("how do i bake bread")
    assistant.until(lambda: pipeline.state.audible)
    time.sleep(2.5)
    assert len(assistant.of(ev.Listen)) == 1, assistant.told
    room.say("what is ten plus twenty")
    assistant.until(lambda: pipeline.state.number == 2 and pipeline.state.phase == "done")
    levels = [event.level for event in assistant.of(ev.Duck)]  # type: ignore[attr-defined]
    assert "soft" in levels, assistant.told
    first, second = pipeline.state.conversation
    assert first.interrupted
    assert 0 < len(first.remembered) < len(first.assistant)
    assert second.user.endswith("twenty"), assistant.told  # where both are loud, first words may be lost


def checked(
    times: int, listens_s: float, meanwhile: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> list[Told]:
    """What the sound check tells; ``meanwhile`` somebody does something, once asked to speak."""
    code = f"from predtui.audio import check, checking; check.LISTENS_S, checking.TIMES = {listens_s}, {times}"
    monkeypatch.setattr(checking, "CHILD", f"{code}; checking.tell()")
    told: list[Told] = []
    with checking.Checking(AudioSettings()) as under_way:
        for one in under_way:
            told.append(one)
            if isinstance(one, Say) and len(told) > 1:
                Thread(target=meanwhile).start()
    return told


@pytest.mark.parametrize("room", [(48000, "80%")], indirect=True)
def test_the_sound_check_hears_the_loudspeaker_and_who_speaks(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    told = checked(3, 3.0, lambda: room.say("what is ten plus twenty"), monkeypatch)
    assert checking.works(told), told
    lines = {one.subject: one.text for one in told if isinstance(one, Found)}
    assert "heard you at -" in lines["microphone"]
    assert "hears the loudspeaker" in lines["echo"]
    assert max(one.decibels for one in told if isinstance(one, Level)) > FAINT_DB


@pytest.mark.parametrize("room", [(44100, "")], indirect=True)
def test_the_sound_check_tells_of_a_microphone_that_is_muted(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.ask("set-source-mute", "mic", "1")
    told = checked(1, 2.0, lambda: room.say(QUESTION), monkeypatch)
    lines = {one.subject: one for one in told if isinstance(one, Found)}
    assert lines["loudspeaker"].state == "found"
    assert "muted" in lines["microphone"].text
    assert "echo" not in lines
    assert not checking.works(told)
