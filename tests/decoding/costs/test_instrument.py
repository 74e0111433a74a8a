"""Forwards are timed from outside, and only those count that cost what they usually do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.costs.constants import SINGLES
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.spans import TARGET, WorkSpans
from predtui.lab.bench.shared_model import priced
from predtui.llm.base import LanguageModel, TreeModel
from predtui.llm.scripted import ScriptedModel


def instrument(further: float = 0.5) -> tuple[Instrument, LanguageModel, WorkSpans]:
    clock, spans = VirtualClock(), WorkSpans()
    model = priced(ScriptedModel(), lambda new, _known: 1 + further * (new - 1), clock)
    made = Instrument(clock, spans)
    return made, made.around(model), spans


@given(st.lists(st.integers(1, 9), max_size=30))
def test_a_model_that_is_timed_answers_as_before_and_all_its_work_is_kept(sizes: list[int]) -> None:
    made, model, spans = instrument()
    plain, context = ScriptedModel(), [5]
    for size in sizes:
        context += [6] * size
        assert model.forward(context, size)[-1].argmax() == plain.forward(context, size)[-1].argmax()
        new = size + (len(context) == size + 1)  # the first forward evaluates the token before, too
        assert made.seconds == pytest.approx(1 + 0.5 * (new - 1))
    worked = [span for span in spans.take(over=True) if span.worker == TARGET]
    assert len(worked) == len(sizes)
    assert isinstance(model, TreeModel)


def test_a_prefill_and_the_first_of_single_tokens_are_not_measured() -> None:
    made, model, _ = instrument()
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


def test_a_tree_counts_as_the_tokens_it_evaluates() -> None:
    made, model, _ = instrument()
    assert isinstance(model, TreeModel)
    model.forward([5, 6])
    model.forward_tree([5, 6, 7], [8, 9], [-1, -1])
    assert made.costs.seconds(3) == 2.0


def test_of_many_single_tokens_the_first_few_tell_enough() -> None:
    clock = VirtualClock()
    price = [1.0]
    made = Instrument(clock, WorkSpans())
    model = made.around(priced(ScriptedModel(), lambda new, known: price[0], clock))
    context = [5]
    for number in range(30):
        price[0] = 1.0 if number <= SINGLES + 1 else 9.0
        model.forward(context)
        context.append(6)
    assert made.costs.seconds(1) == 1.0
    made.measure_singles()
    for _ in range(SINGLES + 1):
        model.forward(context)
        context.append(6)
    assert made.costs._seen[1].count(9.0) == SINGLES
