"""Turns through the whole pipeline: inline on a virtual clock, then with real processes, killed on their way."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from predtui.clock import VirtualClock
from predtui.runtime.bus import Pipeline
from predtui.runtime.hosts.base import Emit
from predtui.runtime.hosts.inline import InlineHost
from predtui.runtime.typing import Typed
from predtui.state import events as ev
from predtui.state.stage import StageSpec
from predtui.state.turn import Exchange, Turn
from tests.cast import FRAME, Pace, cast

PATIENCE_S = 30.0


class Rig:
    """A pipeline with inline hosts: time moves, and stages work, only when told."""

    def __init__(
        self,
        specs: list[StageSpec],
        hands_free: bool = False,
        lagging: bool = False,
        pause_s: float = 0.0,
        idle_s: float = 0.0,
    ) -> None:
        """``lagging``: what stages yield is under way until ``arrive``, as between processes."""
        self.lagging = lagging
        self.under_way: list[tuple[str, Emit, ev.Event]] = []
        self.clock = VirtualClock(100.0)
        self.hosts: dict[str, InlineHost] = {}
        self.events: list[ev.Event] = []
        self.pipeline = Pipeline(
            specs,
            self.clock,
            make_host=self._host,
            hands_free=hands_free,
            pause_s=pause_s,
            background=False,
            idle_s=idle_s,
        )
        self.pipeline.subscribe(self.events.append)
        self.pipeline.start()
        self.settle()

    def _host(self, spec: StageSpec, emit: Emit) -> InlineHost:
        def send(event: ev.Event) -> None:
            self.under_way.append((spec.name, emit, event))
            if not self.lagging:
                self.arrive(spec.name)

        self.hosts[spec.name] = InlineHost(spec, send, self.clock)
        return self.hosts[spec.name]

    def arrive(self, name: str = "") -> None:
        """What ``name`` (or everybody) has yielded reaches the pipeline, in order."""
        arrived = [sent for sent in self.under_way if not name or sent[0] == name]
        self.under_way = [sent for sent in self.under_way if name and sent[0] != name]
        for _, emit, event in arrived:
            emit(event)

    def settle(self) -> None:
        """Until nobody has anything to do at this time."""
        self.arrive()
        self.pipeline.pump()
        while [name for name, host in list(self.hosts.items()) if host.step()]:
            self.arrive()
            self.pipeline.pump()

    def until(self, kind: type[ev.Event], count: int = 1) -> None:
        """Step until ``count`` events of ``kind`` have been seen."""
        for _ in range(10_000):
            self.pipeline.pump()
            if len(self.of(kind)) >= count:
                return
            for host in list(self.hosts.values()):
                host.step()
        raise AssertionError(f"no {kind.__name__}")

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.settle()

    def type(self, text: str, final: bool = False) -> None:
        self.pipeline.type_line(Typed(text, final=final))
        self.settle()

    def of(self, kind: type[ev.Event]) -> list[ev.Event]:
        return [event for event in self.events if type(event) is kind]

    def notices(self) -> list[str]:
        return [e.text for e in self.events if isinstance(e, ev.Notice) and not e.text.startswith("heard:")]

    def heard(self) -> str:
        """What the loudspeaker was given, letter by letter."""
        texts = [e.text for e in self.events if isinstance(e, ev.Notice)]
        return "".join(text.removeprefix("heard:") for text in texts if text.startswith("heard:"))

    @property
    def turn(self) -> Turn:
        return self.pipeline.state

    def kill(self, name: str) -> None:
        """What a process host does when its process has died."""
        host = self.hosts[name]
        host.stop()
        host._emit(ev.StageStatus(stage=name, state="restarting", message=f"{name} was killed by SIGKILL."))
        self.arrive(name)
        self.pipeline.pump()


@pytest.fixture
def rig() -> Rig:
    return Rig(cast(Pace(words=("hello", "big", "world"))))


def test_a_typed_turn_is_speculated_answered_spoken_and_measured(rig: Rig) -> None:
    for text in ("h", "hello", "hello ", "hello w", "hello world"):
        rig.type(text)
    assert [e.prompt for e in rig.of(ev.Transcript) if isinstance(e, ev.Transcript)] == [
        "",
        "",
        "hello",
        "hello",
        "hello",
    ]
    assert {e.revision for e in rig.of(ev.Candidate)} == {1}
    rig.type("hello world", final=True)
    assert rig.turn.phase == "done"
    assert rig.turn.conversation == (Exchange("hello world", "You said hello world. Over."),)
    assert rig.heard().replace(" ", "") == "Yousaidhelloworld.Over."
    assert rig.turn.baseline_audio_latency_ms == pytest.approx(55.0)
    assert len(rig.of(ev.MeasureBaseline)) == 1


def test_the_baseline_is_measured_only_once_nothing_comes_for_a_while() -> None:
    rig = Rig(cast(Pace()), idle_s=2.0)
    rig.type("one", final=True)
    rig.wait(1.9)
    rig.type("two", final=True)
    rig.wait(1.9)
    assert not rig.of(ev.MeasureBaseline)
    rig.wait(0.2)
    assert [event.turn for event in rig.of(ev.MeasureBaseline)] == [2]


def test_revisions_grow_with_each_change_of_the_prompt_and_the_screen_sees_every_letter(rig: Rig) -> None:
    for text in ("a ", "a b", "a bc", "a bc ", "a bc ", "a b ", ""):
        rig.type(text)
    transcripts = [e for e in rig.of(ev.Transcript) if isinstance(e, ev.Transcript)]
    assert [(e.text, e.revision) for e in transcripts] == [
        ("a", 1), ("a b", 1), ("a bc", 1), ("a bc", 2), ("a b", 3), ("", 4),
    ]  # fmt: skip


def test_the_next_turn_knows_the_conversation(rig: Rig) -> None:
    rig.type("one", final=True)
    rig.type("two", final=True)
    started = rig.of(ev.TurnStarted)[-1]
    assert isinstance(started, ev.TurnStarted)
    assert started.turn == 2
    assert [m.content for m in started.history] == ["one", "You said one. Over."]


def test_typing_over_a_reply_silences_it_and_keeps_what_was_committed(rig: Rig) -> None:
    rig.pipeline.type_line(Typed("one", final=True))
    rig.until(ev.Playback)
    rig.type("t")
    kinds = [type(e) for e in rig.events]
    assert kinds.index(ev.Interrupt) < len(kinds) - 1 - kinds[::-1].index(ev.TurnStarted)
    assert rig.turn.number == 2
    assert rig.turn.past[0].interrupted
    assert rig.turn.past[0].assistant.startswith("You said one.")
    after = rig.events[kinds.index(ev.Interrupt) :]
    assert not [e for e in after if isinstance(e, ev.SpeechChunk | ev.ReplyCommitted | ev.ReplyFinished)]
    assert not rig.of(ev.MeasureBaseline)


def test_silence_ends_the_reply_and_nothing_more_is_spoken(rig: Rig) -> None:
    rig.pipeline.type_line(Typed("one", final=True))
    rig.until(ev.SpeechChunk)
    rig.pipeline.silence()
    rig.pipeline.pump()
    said = len(rig.of(ev.SpeechChunk))
    rig.settle()
    assert len(rig.of(ev.SpeechChunk)) == said
    assert rig.turn.phase == "done"
    rig.pipeline.silence()
    rig.settle()
    assert len(rig.of(ev.Interrupt)) == 1


def test_silence_leaves_typed_text_open(rig: Rig) -> None:
    rig.type("one ")
    rig.pipeline.silence()
    rig.type("one two ")
    assert (rig.turn.number, rig.turn.phase, rig.of(ev.Interrupt)) == (1, "typing", [])


def test_enter_on_nothing_opens_no_turn(rig: Rig) -> None:
    rig.type("", final=True)
    rig.type("  ")
    assert rig.turn == replace(rig.turn, number=0, phase="idle")


def test_a_spoken_turn_from_key_to_reply(rig: Rig) -> None:
    rig.pipeline.talk(True)
    rig.settle()
    assert rig.turn.phase == "listening"
    assert rig.turn.transcript.text == "hello big world"
    rig.wait(0.5)
    rig.pipeline.talk(False)
    rig.settle()
    assert rig.turn.conversation == (Exchange("hello big world", "You said hello big world. Over."),)
    assert rig.turn.input_ended == 100.5
    assert rig.turn.source == "voice"
    revisions = [e.revision for e in rig.of(ev.Transcript)]
    assert revisions == sorted(revisions)


def test_a_file_ends_its_own_turn(rig: Rig) -> None:
    rig.pipeline.listen_file(Path("good morning"))
    rig.settle()
    assert rig.turn.conversation == (Exchange("good morning", "You said good morning. Over."),)
    assert len(rig.of(ev.Endpoint)) == 1


@pytest.mark.parametrize(("hands_free", "path"), [(True, ""), (False, ""), (True, "a b")])
def test_silence_ends_hands_free_turns_of_the_microphone_only(hands_free: bool, path: str) -> None:
    rig = Rig(cast(Pace()), hands_free)
    if path:
        rig.pipeline.listen_file(path)
    else:
        rig.pipeline.talk(True)
    rig.settle()
    (listen,) = rig.of(ev.Listen)
    assert isinstance(listen, ev.Listen)
    assert listen.hands_free == (hands_free and not path)


def test_hearing_nothing_closes_the_turn() -> None:
    rig = Rig(cast(Pace()))
    rig.pipeline.talk(True)
    rig.pipeline.talk(False)
    rig.settle()
    assert rig.turn.phase == "done"
    assert rig.notices() == ["Heard nothing."]
    assert rig.turn.conversation == ()


def test_an_empty_reply_is_explained() -> None:
    rig = Rig([replace(spec, factory="tests.cast:speechless") if spec.name == "llm" else spec for spec in cast(Pace())])
    rig.pipeline.type_line(Typed("hi", final=True))
    rig.settle()
    assert rig.notices() == ["The model has nothing to say to that. Put it in other words."]


def test_what_steers_a_terminal_is_no_part_of_a_prompt(rig: Rig) -> None:
    rig.pipeline.type_line(Typed("\x1b[2J\a hi\x9b\n", final=True))
    rig.settle()
    assert rig.turn.conversation[0].user == "[2J hi"


def test_a_recogniser_that_stays_silent_is_given_up_with_the_words_so_far() -> None:
    rig = Rig(cast(Pace(words=("hello", "world"), hears=False)))
    rig.pipeline.talk(True)
    rig.settle()
    rig.pipeline.talk(False)
    rig.settle()
    rig.wait(9.0)
    assert rig.turn.phase == "recognising"
    rig.wait(2.0)
    assert rig.turn.conversation[0].user == "hello world"
    assert "gave no answer" in rig.notices()[0]


def test_a_recogniser_that_fails_while_listening_is_given_up_at_once(rig: Rig) -> None:
    rig.pipeline.talk(True)
    rig.settle()
    rig.pipeline.publish(ev.StageStatus(stage="asr", state="failed", message="asr is broken"))
    rig.settle()
    assert rig.turn.conversation[0].user == "hello big world"
    rig.pipeline.talk(True)
    rig.settle()
    assert "Cannot listen: asr not available" in rig.notices()[-1]
    assert rig.turn.number == 1


def test_talking_over_typed_text_or_a_reply_interrupts_it(rig: Rig) -> None:
    rig.type("half a thought ")
    rig.pipeline.talk(True)
    rig.pipeline.talk(True)
    rig.settle()
    assert [(e.turn, type(e)) for e in rig.events if isinstance(e, ev.Interrupt | ev.TurnStarted | ev.Listen)] == [
        (1, ev.TurnStarted), (1, ev.Interrupt), (2, ev.TurnStarted), (2, ev.Listen),
    ]  # fmt: skip


def test_missing_stages_are_told_and_the_rest_works() -> None:
    rig = Rig(cast(Pace(), "llm"), idle_s=0.3)
    assert {n: s.state for n, s in rig.turn.stages.items()} == {
        "mic": "stopped", "asr": "stopped", "tts": "stopped", "player": "stopped", "llm": "ready",
    }  # fmt: skip
    rig.type("one", final=True)
    assert rig.turn.phase == "done"
    assert not rig.of(ev.MeasureBaseline)
    rig.wait(0.5)
    assert len(rig.of(ev.MeasureBaseline)) == 1
    rig.pipeline.talk(True)
    rig.settle()
    assert rig.notices() == ["Cannot listen: mic and asr not available. Type instead."]


def test_without_a_language_model_the_prompt_is_kept_and_the_lack_told() -> None:
    rig = Rig([StageSpec("llm", "tests.toys:broken"), *cast(Pace(), "tts")])
    assert rig.turn.stages["llm"].message == "no model at /nowhere. Give --model."
    rig.type("one", final=True)
    assert rig.turn.conversation == (Exchange("one", ""),)
    assert "No reply" in rig.notices()[0]


def test_configure_reaches_the_model_and_survives_its_restart(rig: Rig) -> None:
    rig.pipeline.configure(verifier="entropy")
    rig.kill("llm")
    rig.wait(1.0)
    rig.type("one", final=True)
    assert rig.turn.verifier == "entropy"
    assert rig.turn.verdicts[-1].verifier == "entropy"


def test_replacing_the_model_goes_on_with_the_turn(rig: Rig) -> None:
    rig.type("one ")
    old = rig.hosts["llm"]
    rig.pipeline.replace_stage("llm", Pace(step_s=0.5))
    rig.settle()
    assert rig.hosts["llm"] is not old
    assert rig.hosts["llm"].spec.options == Pace(step_s=0.5)
    rig.type("one two", final=True)
    assert rig.turn.conversation == (Exchange("one two", "You said one two. Over."),)
    rig.pipeline.replace_stage("nobody", None)
    rig.settle()
    assert rig.notices() == ["There is no stage nobody to replace."]


def test_a_replacement_that_cannot_open_gives_way_to_the_former_choice(rig: Rig) -> None:
    rig.pipeline.replace_stage("llm", None)
    good = rig.hosts["llm"].spec.options
    rig.pipeline.pump()
    bad = rig.hosts["llm"]
    bad.spec = replace(bad.spec, factory="tests.toys:broken")
    bad.restart()
    rig.settle()
    assert rig.hosts["llm"].spec.options == good
    assert rig.turn.stages["llm"].state == "ready"
    assert rig.notices()[0] == "no model at /nowhere. Give --model. The former choice for llm comes back."


def test_talking_without_a_microphone_is_refused_and_it_is_looked_for(rig: Rig) -> None:
    asked: list[ev.Event] = []
    rig.pipeline.publish(
        ev.StageStatus(stage="mic", state="ready", message="No device. Plug one in.", lacks="microphone")
    )
    rig.settle()
    rig.hosts["mic"].send = asked.append  # type: ignore[method-assign]
    rig.hosts["mic"].accepts = lambda event: True  # type: ignore[method-assign]
    rig.pipeline.talk(True)
    rig.settle()
    assert rig.turn.phase == "idle"
    assert rig.notices() == ["Cannot listen: No device. Plug one in. Then try again, or type."]
    assert [event for event in asked if isinstance(event, ev.LookForDevice)]
    rig.pipeline.publish(ev.StageStatus(stage="mic", state="ready"))
    rig.pipeline.talk(True)
    rig.settle()
    assert rig.turn.phase == "listening"


@pytest.mark.parametrize("name", ["mic", "asr", "llm", "tts", "player"])
@pytest.mark.parametrize("moment", range(0, 60, 3))
def test_a_stage_that_dies_at_any_moment_loses_nothing_of_a_spoken_turn(name: str, moment: int) -> None:
    rig = Rig(cast(Pace(words=("hello", "big", "world"))))
    rig.pipeline.listen_file("hello big world") if name == "mic" else rig.pipeline.talk(True)
    ended = name == "mic"
    for step in range(200):
        rig.pipeline.pump()
        for host in list(rig.hosts.values()):
            host.step()
        if rig.turn.transcript.text.startswith("hello big world") and not ended:
            ended = True
            rig.pipeline.talk(False)
        if step == moment:
            rig.kill(name)
        rig.clock.advance(0.01)
    rig.settle()
    assert rig.turn.conversation == (Exchange("hello big world", "You said hello big world. Over."),)
    assert rig.turn.phase == "done"
    heard, expected = rig.heard().replace(" ", ""), "Yousaidhellobigworld.Over."
    if name != "player":
        assert heard == expected
    else:  # a chunk that was played but not yet reported is played again
        letters = iter(heard)
        assert all(letter in letters for letter in expected)
        assert len(heard) <= len(expected) + 4
    frames = [e for e in rig.events if isinstance(e, ev.AudioFrame)]
    assert [f.position for f in frames] == [n * FRAME for n in range(len(frames))]


@pytest.mark.parametrize(("name", "asked"), [("llm", ev.MeasureBaseline), ("tts", ev.Baseline)])
def test_a_stage_that_dies_measuring_measures_again(name: str, asked: type[ev.Event], rig: Rig) -> None:
    rig.pipeline.type_line(Typed("one", final=True))
    rig.until(asked)
    rig.kill(name)
    rig.settle()
    assert rig.turn.baseline_speech_ms is None
    rig.wait(1.0)
    assert rig.turn.baseline_audio_latency_ms == pytest.approx(55.0)


def test_a_microphone_that_begins_anew_continues_the_utterance(rig: Rig) -> None:
    rig.pipeline.talk(True)
    rig.until(ev.AudioFrame)
    rig.kill("mic")
    rig.wait(1.0)
    words = rig.turn.transcript.text.split()
    assert len(words) > 3
    assert words[-3:] == ["hello", "big", "world"]
    positions = [e.position for e in rig.events if isinstance(e, ev.AudioFrame)]
    assert positions == [n * FRAME for n in range(len(words))]


def test_crash_loops_end_with_a_failure_and_its_remedy(rig: Rig) -> None:
    for _ in range(4):
        rig.kill("llm")
        rig.wait(2.5)
    status = rig.turn.stages["llm"]
    assert status.state == "failed"
    assert "Given up after 3 restarts" in status.message
    assert not rig.hosts["llm"].alive
    rig.pipeline.replace_stage("llm", Pace())
    rig.settle()
    assert rig.turn.stages["llm"].state == "ready"


def test_rare_deaths_are_forgiven(rig: Rig) -> None:
    for _ in range(8):
        rig.kill("llm")
        rig.wait(12.0)
    assert rig.turn.stages["llm"].state == "ready"


def test_a_listener_that_fails_disturbs_nobody(rig: Rig) -> None:
    def bad(event: ev.Event) -> None:
        raise ValueError

    leave = rig.pipeline.subscribe(bad)
    rig.type("one", final=True)
    leave()
    assert rig.turn.phase == "done"


# --- real processes ---------------------------------------------------------------------------------------------------


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[tuple[Pipeline, list[ev.Event]]]:
    pace = Pace(words=("hello", "big", "world"), word_s=0.02, step_s=0.004)
    pipeline = Pipeline(cast(pace), log_path=tmp_path / "log")
    events: list[ev.Event] = []
    pipeline.subscribe(events.append)
    pipeline.start()
    wait_for(lambda: sum(s.state == "ready" for s in pipeline.state.stages.values()) == 5)
    yield pipeline, events
    pids = [pid for pid in pipeline.pids().values() if pid]
    pipeline.stop()
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


MOMENTS: dict[str, type[ev.Event]] = {
    "mic": ev.AudioFrame,
    "asr": ev.Transcript,
    "llm": ev.Candidate,
    "tts": ev.SpeechChunk,
    "player": ev.Playback,
}


@pytest.mark.parametrize("name", MOMENTS)
def test_each_stage_killed_in_the_middle_of_a_turn(name: str, live: tuple[Pipeline, list[ev.Event]]) -> None:
    pipeline, events = live
    killed = threading.Event()

    def kill(event: ev.Event) -> None:
        if isinstance(event, MOMENTS[name]) and not killed.is_set():
            killed.set()
            pid = pipeline.pids()[name]
            assert pid
            os.kill(pid, signal.SIGKILL)

    pipeline.subscribe(kill)
    pipeline.talk(True)
    wait_for(lambda: pipeline.state.transcript.text.endswith("hello big world"))
    pipeline.talk(False)
    wait_for(lambda: pipeline.state.phase == "done" and pipeline.state.baseline_speech_ms is not None)
    assert killed.is_set()
    assert [e.state for e in events if isinstance(e, ev.StageStatus) and e.stage == name and e.turn == 1] != []
    (exchange,) = pipeline.state.conversation
    assert exchange.user.endswith("hello big world")
    assert exchange.assistant == f"You said {exchange.user}. Over."
    pipeline.type_line(Typed("still here", final=True))
    wait_for(lambda: pipeline.state.number == 2 and pipeline.state.phase == "done")
    assert pipeline.state.reply_text == "You said still here. Over."
    assert any(isinstance(e, ev.StageStatus) and "SIGKILL" in e.message for e in events)


def test_a_stage_that_dies_whenever_it_opens_is_given_up(tmp_path: Path) -> None:
    pipeline = Pipeline([StageSpec("llm", "tests.toys:crash_at_open")], log_path=tmp_path / "log", monitored=False)
    pipeline.start()
    wait_for(lambda: "llm" in pipeline.state.stages and pipeline.state.stages["llm"].state == "failed")
    assert str(tmp_path / "log") in pipeline.state.stages["llm"].message
    pipeline.stop()


def test_stop_is_harmless_before_start_and_twice() -> None:
    pipeline = Pipeline(cast(Pace()), monitored=False)
    pipeline.stop()
    pipeline.stop()


def test_in_a_pause_the_unfinished_word_is_answered_and_the_end_of_input_finds_it_so() -> None:
    rig = Rig(cast(Pace()), pause_s=0.06)
    for text in ("how", "how f", "how fa", "how far"):
        rig.type(text)
        rig.settle()
    assert {event.prompt for event in rig.of(ev.Candidate)} <= {"how"}
    rig.wait(0.06)
    assert rig.of(ev.Candidate)[-1].prompt == "how far"
    revision = rig.pipeline.state.revision
    rig.type("how farther")
    rig.wait(0.01)
    assert rig.pipeline.state.revision == revision
    rig.type("how far is")
    rig.settle()
    assert rig.pipeline.state.transcript.prompt == "how far"


def test_without_a_pause_nothing_is_anticipated() -> None:
    rig = Rig(cast(Pace()))
    rig.type("how far")
    rig.wait(5.0)
    assert rig.pipeline.state.transcript.prompt == "how"


def test_lines_typed_ahead_wait_and_are_answered_in_order(rig: Rig) -> None:
    for prompt in ("one", "two", "three"):
        rig.pipeline.type_line(Typed(prompt, final=True))
    rig.pipeline.pump()
    assert rig.turn.waiting == ("two", "three")
    rig.settle()
    said = [Exchange(prompt, f"You said {prompt}. Over.") for prompt in ("one", "two", "three")]
    assert rig.turn.conversation == tuple(said)
    assert rig.turn.waiting == ()
    assert rig.heard().replace(" ", "").count("Over.") == 3


def test_a_line_begun_behind_an_awaited_reply_goes_on_as_the_next_turn(rig: Rig) -> None:
    rig.pipeline.type_line(Typed("one", final=True))
    for text in ("t", "tw", "two", "two t"):
        rig.pipeline.type_line(Typed(text))
    rig.pipeline.pump()
    assert (rig.turn.number, rig.turn.waiting) == (1, ())
    rig.settle()
    assert (rig.turn.number, rig.turn.phase, rig.turn.transcript.text) == (2, "typing", "two t")
    assert rig.turn.past == (Exchange("one", "You said one. Over."),)


def test_a_key_silences_the_reply_that_is_heard_and_lets_the_next_line_through(rig: Rig) -> None:
    rig.pipeline.type_line(Typed("one", final=True))
    rig.pipeline.type_line(Typed("two", final=True))
    rig.until(ev.Playback)
    rig.pipeline.type_line(Typed("t"))
    rig.pipeline.pump()
    assert rig.turn.past[0].interrupted
    assert rig.turn.transcript.text == "two"
    rig.settle()
    assert rig.turn.transcript.text == "t"
    assert rig.turn.past[1] == Exchange("two", "You said two. Over.")


def test_a_cursor_that_moves_silences_nothing_and_opens_no_turn(rig: Rig) -> None:
    rig.type("half")
    rig.pipeline.talk(True)
    rig.settle()
    rig.pipeline.talk(False)
    rig.until(ev.Playback)
    rig.pipeline.type_line(Typed("half", 0))
    rig.settle()
    assert rig.turn.source == "voice"
    assert not rig.turn.interrupted
    rig.type("half", final=True)
    assert rig.turn.conversation[-1] == Exchange("half", "You said half. Over.")


def test_talking_over_an_awaited_reply_says_so_and_what_waits_comes_after_it(rig: Rig) -> None:
    rig.pipeline.type_line(Typed("one", final=True))
    rig.pipeline.type_line(Typed("two", final=True))
    rig.pipeline.talk(True)
    rig.settle()
    assert rig.notices() == ["Not answered, since you spoke: one"]
    assert (rig.turn.source, rig.turn.waiting) == ("voice", ("two",))
    rig.pipeline.talk(False)
    rig.settle()
    users = [exchange.user for exchange in rig.turn.conversation]
    assert users == ["one", "hello big world", "two"]


def test_prompts_sent_while_the_model_is_changed_are_answered(rig: Rig) -> None:
    rig.pipeline.replace_stage("llm", Pace(step_s=0.1))
    for prompt in ("one", "two"):
        rig.pipeline.type_line(Typed(prompt, final=True))
    rig.settle()
    assert [exchange.assistant for exchange in rig.turn.conversation] == ["You said one. Over.", "You said two. Over."]


def test_without_a_language_model_each_line_is_refused_with_the_reason() -> None:
    rig = Rig([StageSpec("llm", "tests.toys:broken"), *cast(Pace(), "tts")])
    for prompt in ("one", "two"):
        rig.pipeline.type_line(Typed(prompt, final=True))
    rig.settle()
    assert [exchange.user for exchange in rig.turn.conversation] == ["one", "two"]
    assert [text.startswith("No reply: the language model") for text in rig.notices()] == [True, True]


def test_a_word_edited_within_the_line_asks_for_a_reply_once_it_is_left() -> None:
    rig = Rig(cast(Pace(), "llm"), pause_s=0.5)
    rig.type("what ws it ")
    asked = len(rig.of(ev.Verdict))
    for text, cursor in (("what ws it ", 6), ("what was it ", 7)):
        rig.pipeline.type_line(Typed(text, cursor))
        rig.settle()
    assert rig.turn.transcript.text == "what was it"
    assert len(rig.of(ev.Verdict)) == asked
    rig.pipeline.type_line(Typed("what was it ", 12))
    rig.settle()
    assert len(rig.of(ev.Verdict)) == asked + 1
    rig.pipeline.type_line(Typed("what wa it ", 7))
    rig.settle()
    rig.wait(0.6)
    assert rig.turn.candidate.prompt == "what wa it"
