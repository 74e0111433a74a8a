"""How loud the microphone is, and what is said of one that gives nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.audio.level import Meter, decibels
from predtui.audio.resample import to_pcm
from predtui.state import events as ev
from tests.audio.sounds import Samples, frames, noise, tone


def told(sound: Samples) -> list[ev.Event]:
    meter = Meter()
    return [event for frame in frames(to_pcm(sound)) for event in meter.push(frame)]


def test_a_level_each_tenth_of_a_second() -> None:
    levels = [event.decibels for event in told(tone(400, 1.0, level=0.1)) if isinstance(event, ev.SoundLevel)]
    assert levels == pytest.approx([-23.0] * 10, abs=0.2)


@pytest.mark.parametrize(
    ("sound", "why"),
    [(np.zeros(16000 * 9), "muted"), (noise(9.0, 0.0002), "faint"), (noise(9.0, 0.003), ""), (tone(400, 9.0), "")],
)
def test_a_microphone_that_gives_nothing_is_told_of_once(sound: Samples, why: str) -> None:
    notices = [event.text for event in told(sound) if isinstance(event, ev.Notice)]
    assert len(notices) == bool(why)
    assert why in "".join(notices)


def test_one_that_is_heard_at_last_is_not_blamed() -> None:
    sound = np.concatenate([np.zeros(16000 * 2), tone(400, 7.0)])
    assert not [event for event in told(sound) if isinstance(event, ev.Notice)]


@given(st.floats(0, 1))
def test_levels_lie_between_silence_and_the_loudest(square: float) -> None:
    assert -96.0 <= decibels(square) <= 0.0
