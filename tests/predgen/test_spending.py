"""What a server may be asked for: of the budget guesses get least, pauses all; what is told is what was asked."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.load import load
from predtui.predgen.spending import GUESSES, WORDS, Spending
from predtui.state.events import Transcript, TurnStarted
from tests.around import innermost
from tests.predgen.distant import OPTIONS, Assistant, DistantModel, Network, distant

amounts = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=6)


@given(amounts, st.floats(0, 8), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_lasts_longer_and_what_is_spoken_is_not_wasted(
    turns: list[tuple[int, int]], budget: float, one: float, other: float
) -> None:
    loaded = distant(5, False, Network())
    spending, counters = Spending(loaded, budget), loaded.model.counters
    less, more = sorted((one, other))
    for guessed, replied in turns:
        counters.generated += guessed + replied
        if spending.used_up(more):
            assert spending.used_up(less)
        before = spending.used_up()
        spending.spoken(replied)
        assert before or not spending.used_up()
    assert spending.used_up() == (sum(guessed for guessed, _ in turns) >= budget * (sum(r for _, r in turns) + 32))
    assert GUESSES < WORDS < 1


@given(st.integers(0, 90), st.integers(0, 90))
def test_what_is_asked_for_the_comparison_is_not_counted(aside: int, own: int) -> None:
    loaded = distant(5, False, Network())
    spending, counters = Spending(loaded, 1.0), loaded.model.counters
    with spending.aside():
        counters.generated, counters.forwards, counters.cancelled = counters.generated + aside, 3, 2
    assert [*spending.events(0)] == []
    counters.generated += own
    counters.forwards += 1
    (told,) = spending.events(0)
    assert (told.count, told.cancelled, told.generated, told.wasted) == (1, 0, own, own)
    assert [*spending.events(0)] == []
    spending.begin()
    counters.forwards += 1
    assert [event.count for event in spending.events(0)] == [1]


def test_a_model_of_this_machine_costs_nobody_anything() -> None:
    loaded = load("5", engine="scripted")
    spending = Spending(loaded, 0.0)
    loaded.model.counters.forwards += 5
    assert not spending.used_up()
    assert [*spending.events(0)] == []


def test_where_words_may_cost_no_more_a_pause_still_may() -> None:
    assistant = Assistant(partial(distant, 5, False), replace(OPTIONS, remote_budget=1.0, continuations=0))
    model = innermost(assistant.loaded.model)
    assert isinstance(model, DistantModel)
    spending, prompt = assistant.stage._parts.spending, "what"
    assistant.run((0, TurnStarted()))
    while not spending.used_up(WORDS):
        prompt += " is"
        assistant.run((0, Transcript(tentative=prompt, unfinished=False)))
    asked = model.counters.forwards
    assistant.run((0, Transcript(tentative="no", unfinished=False)))
    assert model.counters.forwards == asked
    assistant.run((0, Transcript(tentative="no why", paused=True)))
    assert model.counters.forwards == asked + 1
