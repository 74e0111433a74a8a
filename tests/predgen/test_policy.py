"""When a pause is long enough to be used."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.predgen.policy import pause_seconds

seconds = st.floats(0.001, 10.0)


@given(seconds, seconds, seconds)
def test_a_slower_model_waits_longer_and_none_less_than_was_asked(shortest: float, one: float, other: float) -> None:
    fast, slow = sorted((one, other))
    assert shortest <= pause_seconds(shortest, fast) <= pause_seconds(shortest, slow)


@given(seconds)
def test_no_pause_is_no_pause(forward: float) -> None:
    assert pause_seconds(0.0, forward) == 0.0
