"""When a pause is long enough to be used."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.runtime.rhythm import Rhythm

seconds = st.floats(0.001, 2.0)
intervals = st.lists(st.floats(0.01, 5.0), max_size=30)


def pause(shortest: float, between: list[float]) -> float:
    rhythm, time = Rhythm(shortest), 100.0
    found = rhythm.pause(time)
    for interval in between:
        time += interval
        found = rhythm.pause(time)
    return found


@given(seconds, intervals)
def test_nothing_shorter_than_was_asked_is_a_pause(shortest: float, between: list[float]) -> None:
    assert pause(shortest, between) >= shortest


@given(seconds, st.floats(0.02, 1.9), st.integers(2, 20))
def test_who_writes_steadily_makes_no_pause(shortest: float, interval: float, keys: int) -> None:
    assert pause(shortest, [interval] * keys) > interval


@given(intervals)
def test_no_pause_is_no_pause(between: list[float]) -> None:
    assert pause(0.0, between) == 0.0
