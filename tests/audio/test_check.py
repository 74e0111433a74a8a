"""The sound check says what is so: with any microphone, any loudspeaker, or none, and it always ends."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
import pytest

from predtui.audio import check as module
from predtui.audio import checking
from predtui.audio.check import LISTENS_S, check
from predtui.audio.checking import Checking, sample, works
from predtui.audio.found import Found, Level, Say, Told
from predtui.audio.playback import NullLoudspeaker
from predtui.audio.resample import FRAME, FRAME_BYTES, RATE, to_float, to_pcm
from predtui.audio.vad import Energy
from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
from predtui.settings import AudioSettings

SECONDS = 3.0
Sound = Callable[[float, bytes], bytes]
"""What the microphone hears: of the seconds since it was opened, and what is being played."""
NOISE = np.random.default_rng(1)


def noise(decibels: float, seconds: float = FRAME / RATE) -> bytes:
    return to_pcm(10 ** (decibels / 20) * NOISE.standard_normal(round(seconds * RATE)))


def silence(_: float, __: bytes) -> bytes:
    return bytes(FRAME_BYTES)


def person(decibels: float) -> Sound:
    """In a quiet room, once the sample is over."""
    return lambda at, _: noise(decibels if at > SECONDS + 1 and at % 1.0 < 0.7 else -58)


def echo(_: float, played: bytes) -> bytes:
    return to_pcm(0.3 * to_float(played) + to_float(noise(-58)))


class Speaker(NullLoudspeaker):
    """Plays in no time but the clock's."""

    def __init__(self, clock: VirtualClock, problem: str = "") -> None:
        super().__init__(clock)
        self._problem, self.pcm = problem, b""

    def open(self, rate: int = 0) -> None:
        if self._problem:
            raise PredtuiError(self._problem, "Do something.")

    def write(self, pcm: bytes, rate: int) -> None:
        super().write(pcm, rate)
        self.pcm = pcm

    def now(self) -> bytes:
        """The frame that is being played."""
        at = round(self.played / (FRAME / RATE)) * FRAME_BYTES
        return self.pcm[at : at + FRAME_BYTES].ljust(FRAME_BYTES, b"\0") if self.waiting else bytes(FRAME_BYTES)


class Stuck(Speaker):
    waiting = 1.0


class Mike:
    """Gives a frame each 20 ms of the clock."""

    warning = ""

    def __init__(self, clock: VirtualClock, speaker: Speaker, sound: Sound | PredtuiError, lasts: float) -> None:
        self._clock, self._speaker, self._sound, self._lasts = clock, speaker, sound, lasts

    def open(self) -> None:
        if isinstance(self._sound, PredtuiError):
            raise self._sound

    def start(self, anew: bool = False) -> None:
        self._began = self._clock.now()

    def read(self) -> bytes:
        if self._clock.now() - self._began > self._lasts:
            raise PredtuiError("the microphone has gone.", "Plug it in again.")
        played = self._speaker.now()
        self._clock.sleep(FRAME / RATE)
        assert callable(self._sound)
        return self._sound(self._clock.now() - self._began, played)

    def stop(self) -> None:
        """Nothing to stop."""

    close = stop


class Perfect:
    def clean(self, near: bytes, far: bytes) -> bytes:
        return noise(-80)


class Useless:
    def clean(self, near: bytes, far: bytes) -> bytes:
        return near


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Told]]:
    """All that is told of such a room."""

    def tell(
        sound: Sound | PredtuiError,
        speaker: type[Speaker] = Speaker,
        problem: str = "",
        lasts: float = math.inf,
        canceller: object = Perfect,
        options: AudioSettings | None = None,
    ) -> list[Told]:
        clock = VirtualClock(100.0)
        out = speaker(clock, problem)
        monkeypatch.setattr(module, "Loudspeaker", lambda _: out)
        monkeypatch.setattr(module, "Microphone", lambda _: Mike(clock, out, sound, lasts))
        monkeypatch.setattr(module, "WebRtc", canceller)
        monkeypatch.setattr(module, "_detector", Energy)
        every = list(check(options or AudioSettings(), (noise(-20, SECONDS), RATE), clock))
        assert clock.now() < 100.0 + SECONDS + module.STUCK_S + LISTENS_S + 1
        return every

    return tell


def found(told: list[Told]) -> dict[str, Found]:
    """By subject, each once."""
    lines = [one for one in told if isinstance(one, Found)]
    assert len({one.subject for one in lines}) == len(lines)
    assert not any("\n" in one.text + one.remedy for one in lines)
    return {one.subject: one for one in lines}


@pytest.mark.parametrize("decibels", [-34, -24, -12])
def test_who_speaks_is_told_how_loud(told: Callable[..., list[Told]], decibels: int) -> None:
    every = told(person(decibels))
    lines = found(every)
    assert lines["loudspeaker"].state == lines["microphone"].state == "found"
    assert abs(float(lines["microphone"].text.split()[3]) - decibels) <= 3
    assert lines["echo"].text == "the microphone does not hear the loudspeaker"
    assert works(every)
    assert [type(one) for one in every if isinstance(one, Say)] == [Say, Say]
    levels = [one.decibels for one in every if isinstance(one, Level)]
    assert len(levels) == pytest.approx(10 * (SECONDS + LISTENS_S), abs=3)


@pytest.mark.parametrize(
    ("sound", "state", "says"),
    [
        (silence, "missing", "gives silence. Is it muted, or is another meant?"),
        (lambda at, _: noise(-75), "missing", "very faint"),
        (lambda at, _: noise(-52), "missing", "nobody who speaks"),
        (person(6), "broken", "it clips"),
        (PredtuiError("no microphone found.", "Plug one in."), "missing", "no microphone found"),
    ],
)
def test_who_is_not_heard_is_told_why(
    told: Callable[..., list[Told]], sound: Sound | PredtuiError, state: str, says: str
) -> None:
    every = told(sound)
    lines = found(every)
    assert lines["microphone"].state == state
    assert says in lines["microphone"].text
    assert lines["microphone"].remedy
    assert lines["loudspeaker"].state == "found"
    assert not works(every)


@pytest.mark.parametrize(
    ("canceller", "state", "says"),
    [(Perfect, "found", "its echo is cancelled"), (Useless, "missing", "its echo is not cancelled")],
)
def test_an_echo_is_told_of(told: Callable[..., list[Told]], canceller: object, state: str, says: str) -> None:
    line = found(told(echo, canceller=canceller))["echo"]
    assert (line.state, says in line.text) == (state, True)


def test_without_a_canceller_the_reason_is_told(told: Callable[..., list[Told]]) -> None:
    def absent() -> None:
        raise PredtuiError("no echo canceller here.")

    assert "no echo canceller here" in found(told(echo, canceller=absent))["echo"].text


@pytest.mark.parametrize(
    ("speaker", "problem", "state", "says"),
    [(Stuck, "", "broken", "takes no sound"), (Speaker, "no loudspeaker found.", "missing", "no loudspeaker found")],
)
@pytest.mark.parametrize("sound", [silence, person(-20), PredtuiError("no microphone found.")])
def test_a_loudspeaker_that_is_none(
    told: Callable[..., list[Told]], speaker: type[Speaker], problem: str, state: str, says: str, sound: Sound
) -> None:
    """With a microphone or without, it ends, and the microphone is told of, too."""
    every = told(sound, speaker=speaker, problem=problem)
    lines = found(every)
    assert (lines["loudspeaker"].state, says in lines["loudspeaker"].text) == (state, True)
    assert "microphone" in lines
    assert not works(every)


@pytest.mark.parametrize("lasts", [0.5, SECONDS + 1])
def test_a_microphone_that_goes_meanwhile(told: Callable[..., list[Told]], lasts: float) -> None:
    assert "has gone" in found(told(person(-20), lasts=lasts))["microphone"].text


def test_devices_that_are_switched_off_are_not_opened(told: Callable[..., list[Told]]) -> None:
    every = told(silence, options=AudioSettings(input="none", output="none"))
    assert [(one.subject, "switched off" in one.text) for one in every if isinstance(one, Found)] == [
        ("loudspeaker", True), ("microphone", True),
    ]  # fmt: skip


def test_without_a_sound_library_both_lines_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    lines = found(list(check(AudioSettings(), (noise(-20), RATE), VirtualClock())))
    assert [line.state for line in lines.values()] == ["missing", "missing"]
    assert all("sounddevice" in line.text and line.remedy for line in lines.values())


class TestProcess:
    @pytest.mark.parametrize(
        ("code", "longest_s"),
        [
            ("raise SystemExit(3)", 30.0),
            ("import os; os.abort()", 30.0),
            ("print('over it')", 30.0),
            ("import time; time.sleep(60)", 3.0),
        ],
    )
    def test_whatever_becomes_of_it_the_last_line_says_so(
        self, monkeypatch: pytest.MonkeyPatch, code: str, longest_s: float
    ) -> None:
        begun = """print('ALSA lib pcm.c'); print('[1]'); print('{"kind": "Say", "text": "Hello."}', flush=True)\n"""
        monkeypatch.setattr(checking, "CHILD", begun + code)
        monkeypatch.setattr(checking, "LONGEST_S", longest_s)
        with Checking(AudioSettings()) as under_way:
            said, last = under_way
        assert said == Say("Hello.")
        assert isinstance(last, Found)
        assert "does not answer" in last.text
        assert not works([said, last])

    def test_stopped_it_says_nothing_more(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            checking, "CHILD", """print('{"kind": "Level", "decibels": -3.0}', flush=True)\nwhile True: pass"""
        )
        under_way = Checking(AudioSettings())
        lines = iter(under_way)
        assert next(lines) == Level(-3.0)
        under_way.stop()
        assert list(lines) == []
        assert under_way._child.returncode is not None

    def test_devices_that_are_named_are_those_that_are_looked_for(self) -> None:
        with Checking(AudioSettings(input="none", output="none")) as under_way:
            assert [isinstance(one, Found) and "switched off" in one.text for one in under_way] == [True, True]


def test_the_sample_is_a_voice_that_can_be_heard() -> None:
    pcm, rate = sample()
    assert 3 < len(pcm) / 2 / rate < 8
    assert 0.02 < float(np.sqrt(np.mean(np.square(to_float(pcm))))) < 0.5
