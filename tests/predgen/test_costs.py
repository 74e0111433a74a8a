"""What a forward costs is known before the first key, and kept up with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.bench.lending import priced
from predtui.clock import VirtualClock
from predtui.decoding.scheduler import Curve
from predtui.llm.scripted import ScriptedModel
from predtui.predgen.costs import PATIENCE_S, SIZES, measured, observed


@given(st.floats(0.0003, 30.0), st.floats(0.0, 1.0))
def test_one_token_and_many_are_told_apart_on_any_machine(one: float, further: float) -> None:
    clock = VirtualClock()
    model = priced(ScriptedModel(), lambda new, _known: one * (1 + further * (new - 1)), clock)
    model.logits([5, 6, 7])
    began = clock.now()
    curve = measured(model, [5, 6, 7], clock)
    for size in (1, 16):
        assert curve.seconds(size) == pytest.approx(one * (1 + further * (size - 1)), rel=1e-3)
    largest = one * (1 + further * (max(SIZES) - 1))
    assert clock.now() - began <= PATIENCE_S + one + largest


def test_what_forwards_take_meanwhile_is_learnt() -> None:
    clock = VirtualClock()
    model, costs = priced(ScriptedModel(), lambda new, _known: 0.1 * new, clock), Curve()
    costs.add(1, 3.0)

    def work() -> Iterator[int]:
        for count in range(9):
            model.logits([5] * (count + 3))
            yield count
        yield 9

    assert list(observed(work(), model, clock, costs)) == list(range(10))
    assert costs.seconds(1) == pytest.approx(0.1)
