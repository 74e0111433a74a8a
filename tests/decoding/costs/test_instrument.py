"""Forwards are timed from outside, and only those count that cost what they usually do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.costs.constants import WINDOW
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.spans import TARGET
from predtui.lab.bench.shared_model import priced
from predtui.llm.base import LanguageModel, has_trees
from predtui.llm.scripted import ScriptedModel
from tests.predgen.distant import DistantModel, Network


def instrument(further: float = 0.5) -> tuple[Instrument, LanguageModel]:
    clock = VirtualClock()
    model = priced(ScriptedModel(), lambda new, _known: 1 + further * (new - 1), clock)
    made = Instrument(clock)
    return made, made.around(model)


@given(st.lists(st.integers(1, 9), max_size=30))
def test_a_model_that_is_timed_answers_as_before_and_all_its_work_is_kept(sizes: list[int]) -> None:
    made, model = instrument()
    plain, context = ScriptedModel(), [5]
    for size in sizes:
        context += [6] * size
        assert model.forward(context, size)[-1].argmax() == plain.forward(context, size)[-1].argmax()
        new = size + (len(context) == size + 1)  # the first forward evaluates the token before, too
        assert made.seconds == pytest.approx(1 + 0.5 * (new - 1))
    worked = [span for span in made.spans.take(over=True) if span.worker == TARGET]
    assert len(worked) == len(sizes)


def test_a_model_is_measured_once_however_often_it_is_asked_for() -> None:
    made, model = instrument()
    assert made.around(model) is model
    other = Instrument(VirtualClock())
    assert other.around(model) is not model


def test_a_prefill_for_one_row_and_the_first_of_single_tokens_are_not_added() -> None:
    made, model = instrument()
    model.forward([5, 6, 7])
    assert not made.steady
    model.forward([5, 6, 7, 8])
    assert not made.steady
    assert 1 not in made.costs
    model.forward([5, 6, 7, 8, 9])
    assert made.steady
    assert made.costs.seconds(1) == 1.0
    model.forward([5, 6, 7, 8, 9, 5, 5, 5], 3)
    assert made.steady
    assert made.costs.seconds(3) == 2.0
    model.forward([5, 6, 7, 8, 9, 5, 5, 5, 6])
    assert not made.steady


def test_candidates_that_are_verified_with_the_words_before_them_are_added() -> None:
    made, model = instrument()
    model.forward([5, 6, 7, 8, 9], 3)
    assert made.steady
    assert made.costs.seconds(5) == 3.0


def test_a_tree_counts_as_the_tokens_it_evaluates() -> None:
    made, model = instrument()
    assert has_trees(model)
    model.forward([5, 6])
    model.forward_tree([5, 6, 7], [8, 9], [-1, -1])
    assert made.costs.seconds(3) == 2.0


@given(st.floats(0.5, 5.0))
def test_what_is_known_follows_a_machine_that_becomes_slower_or_faster(factor: float) -> None:
    clock, speed = VirtualClock(), [1.0]
    made = Instrument(clock)
    model = made.around(priced(ScriptedModel(), lambda new, _known: speed[0] * (1 + 0.1 * new), clock))
    for speed[0] in (1.0, factor):
        for _ in range(WINDOW):
            model.forget()
            model.forward([5] * 8, 3)
            model.forward([5] * 9)
            model.forward([5] * 10)
    assert made.costs.seconds(8) == pytest.approx(factor * 1.8)
    assert made.costs.seconds(1) == pytest.approx(factor * 1.1)


def test_over_a_network_a_forward_costs_a_round_trip_and_what_is_verified_whatever_is_sent() -> None:
    clock = VirtualClock()
    made = Instrument(clock)
    model = made.around(DistantModel(5, True, Network(wait=lambda: clock.sleep(0.05))))
    for length in (20, 200):
        model.forward([5] * length, 8)
    assert made.costs.seconds(8) == pytest.approx(0.05)
    assert 20 not in made.costs
    assert 200 not in made.costs
