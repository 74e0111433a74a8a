"""No turn is later for speculation by more than a forward, however fast the machine, however people write."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.lab.bench.methods import METHODS
from predtui.lab.bench.simulation import ROUNDING, run, simulated


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9))
def test_a_turn_is_never_later_by_more_than_a_forward(seed: int) -> None:
    turn = simulated(random.Random(seed), METHODS["greedy"])
    assert turn.excess <= 1 + ROUNDING, turn


def test_turns_are_earlier_on_the_whole() -> None:
    turns = list(run(40, 1, METHODS["greedy"]))
    assert sum(turn.with_speculation for turn in turns) < sum(turn.without for turn in turns)
