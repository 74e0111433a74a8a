"""The bench of hands-free turns: what it makes of pauses, and that it says what it claims to say."""

from __future__ import annotations

import math
import random
import wave
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predtui.lab.bench.endpoint import Pause, Turn, row, say, shifted
from predtui.runtime.turn_taking import UNKNOWN_S, Patience

pauses = st.builds(Pause, st.floats(0.15, 3.0), st.just("what"), st.none() | st.floats(0, 1), st.floats(0.08, 2.0))
ends = st.builds(Pause, st.just(math.inf), st.just("what now"), st.none() | st.floats(0, 1), st.floats(0.08, 2.0))
turns = st.lists(st.tuples(pauses, ends), min_size=1, max_size=8)


@given(pauses, st.floats(0.1, 2.0))
def test_a_fixed_silence_cuts_what_is_longer_and_nothing_else(pause: Pause, seconds: float) -> None:
    assert pause.cuts(lambda _: seconds) == (seconds < pause.seconds)


@given(ends)
def test_a_turn_ends_no_sooner_than_its_probability_is_known_and_no_later_than_without(end: Pause) -> None:
    assert not end.cuts(Patience())
    delay = end.ends(Patience())
    assert delay == UNKNOWN_S if end.probability is None else delay >= min(end.after, UNKNOWN_S)


@given(turns, st.floats(0, 1))
def test_so_much_patience_that_no_more_are_cut_off(heard: list[Turn], share: float) -> None:
    one = shifted(heard, share)
    assert row(heard, "", one)["cut_off_share"] <= share or one.even == one.most


def test_a_turn_is_said_with_its_pauses(tmp_path: Path) -> None:
    path = tmp_path / "turn.wav"
    said = say("what is the capital of france", path, random.Random(3))
    assert said[-1][1] == math.inf
    with wave.open(str(path)) as file:
        rate, sound = file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), "<i2")
    for begin, seconds in said:
        first = round(begin * rate)
        silent = sound[first : first + int(min(seconds, 2.5) * rate)]
        assert not silent.any()
        assert np.abs(sound[first - int(0.05 * rate) : first]).max() > 300
