"""Voice activity: speech is found, noises are not; padding and hangover keep the edges of words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.audio.resample import FRAME, to_pcm
from predtui.audio.vad import WINDOW, Detector, Endpointer, Energy, Padding, Silero, VoiceActivity, Window
from tests.audio.sounds import frames, noise, speech, tone


class Scripted:
    """A detector that answers from a list."""

    def __init__(self, answers: list[float]) -> None:
        self._answers = iter(answers)

    def probability(self, window: Window) -> float:
        assert len(window) == WINDOW
        return next(self._answers)

    def reset(self) -> None:
        pass


def heard(detector: Detector, pcm: bytes) -> list[bool]:
    activity = VoiceActivity(detector)
    return [activity.push(frame) for frame in frames(pcm)]


@pytest.mark.parametrize("make", [Silero, Energy])
def test_speech_is_found_and_silence_is_not(make: type[Detector]) -> None:
    voiced = heard(make(), speech("the weather is lovely today", before=1.0, after=1.5))
    assert not any(voiced[:45])
    assert np.mean(voiced[55:110]) > 0.9
    assert not any(voiced[-40:])


@pytest.mark.parametrize("name", ["silence", "noise", "loud noise", "hum", "clicks", "chords"])
def test_what_is_not_speech_is_not_voiced(name: str) -> None:
    clicks = np.zeros(160000)
    clicks[::8000] = 0.9
    chords = sum(tone(hertz, 10, level=0.1) for hertz in (220.0, 277.2, 329.6)) * (1 + tone(2, 10, level=0.5))
    sounds = {
        "silence": np.zeros(160000),
        "noise": noise(10, 0.01),
        "loud noise": noise(10, 0.2),
        "hum": tone(50, 10) + tone(150, 10, level=0.1),
        "clicks": clicks,
        "chords": chords,
    }
    assert not any(heard(Silero(), to_pcm(sounds[name])))


def test_windows_judge_the_same_whatever_came_before_a_reset() -> None:
    silero = Silero()
    window = noise(0.032, 0.1).astype(np.float32)
    first = silero.probability(window)
    for _ in range(20):
        silero.probability(noise(0.032, 0.5, seed=3).astype(np.float32))
    silero.reset()
    assert silero.probability(window) == first


def test_hysteresis_and_hangover() -> None:
    """Two windows over 0.5 begin, 0.4 holds, 0.3 ends, and 64 ms of hangover follow."""
    answers = [0.9, 0.1, 0.9, 0.9, 0.4, 0.3] + [0.0] * 20
    activity = VoiceActivity(Scripted(answers))
    window = bytes(2 * WINDOW)
    voiced = [activity.push(window) for _ in answers]
    assert voiced.index(True) == 3
    assert sum(voiced) == 2 + 64 * 16 // WINDOW - 1


@given(st.lists(st.booleans(), max_size=80))
def test_padding_keeps_every_frame_in_order(voiced: list[bool]) -> None:
    padding = Padding(0.2)
    out: list[tuple[bytes, bool]] = []
    for index, voice in enumerate(voiced):
        out += padding.push(bytes([index]), voice)
        assert len(out) == index + 1 or not voice, "a voiced frame is never held back"
    out += padding.flush()
    assert [frame[0] for frame, _ in out] == list(range(len(voiced)))
    for index, (_, marked) in enumerate(out):
        assert marked == any(voiced[index : index + 11])


def test_the_end_of_a_turn() -> None:
    endpointer = Endpointer(700)
    assert not any(endpointer.push(False) for _ in range(500)), "silence before speech ends nothing"
    assert not any(endpointer.push(True) for _ in range(50))
    assert not any(endpointer.push(False) for _ in range(30))
    assert not endpointer.push(True), "a short pause is no end"
    assert [endpointer.push(False) for _ in range(35)].index(True) == 700 * 16 // FRAME - 1
