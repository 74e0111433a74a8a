"""What may be risked on a candidate."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.costs.curve import Curve
from predtui.predgen.policy import worth


@given(st.lists(st.floats(0.0, 1.0), max_size=20), st.floats(0.001, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 3.0))
def test_what_is_risked_is_no_more_than_may_be_lost(
    chances: list[float], one: float, further: float, spare: float
) -> None:
    costs = Curve()
    for size in (1, 2, 30):
        costs.add(size, one * (1 + further * (size - 1)))
    count = worth(sorted(chances, reverse=True), 1, costs, spare)
    assert costs.seconds(1 + count) - costs.seconds(1) <= spare
    assert count <= worth(sorted(chances, reverse=True), 1, costs, math.inf)
