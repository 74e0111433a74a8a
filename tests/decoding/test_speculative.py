"""A drafter observes every forward of the target, and never steers what is said."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.accept import ExactMatch
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.recycling import TokenRecycling
from predtui.decoding.sampler import Greedy, Seeded
from predtui.decoding.speculative import Speculative
from predtui.lab.bench.shared_model import priced
from predtui.llm.scripted import ScriptedModel

samplers = st.just(Greedy()) | st.builds(Seeded, temperature=st.floats(0.3, 2.0), seed=st.integers(0, 99))
contexts = st.lists(st.integers(4, 40), min_size=1, max_size=12)


def no_end(token: int) -> bool:
    return False


class Recorder:
    """Proposes ``tokens`` whatever the context, and writes down what it is told."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self.seen: list[Verification] = []
        self._tokens = tuple(tokens)

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        return Draft(self._tokens[:budget])

    def observe(self, verification: Verification) -> None:
        self.seen.append(verification)

    def reset(self) -> None:
        """Nothing is forgotten."""


def decoder_of(model: ScriptedModel, drafter: Recorder, sampler: Sampler, further: float) -> Speculative:
    """One whose forwards cost ``further`` seconds a token beside the second that any forward takes."""
    clock = VirtualClock()
    timed = priced(model, lambda new, _known: 1 + further * (new - 1), clock)
    return Speculative(timed, drafter, ExactMatch(sampler), Instrument(clock))


@given(
    samplers,
    st.lists(st.tuples(contexts, st.integers(0, 60), contexts | st.just([])), min_size=1, max_size=4),
    st.lists(st.integers(4, 40), max_size=6),
    st.floats(0, 1.5),
)
@settings(deadline=None, max_examples=30)
def test_every_forward_is_observed_drafted_or_not(
    sampler: Sampler, replies: list[tuple[list[int], int, list[int]]], proposed: list[int], further: float
) -> None:
    model, drafter = ScriptedModel(2), Recorder(proposed)
    decoder = decoder_of(model, drafter, sampler, further)
    for context, limit, guess in replies:
        before, drafter.seen = model.counters.forwards, []
        reply = list(decoder.generate(context, limit, no_end, guesses=[guess]))
        assert len(drafter.seen) == model.counters.forwards - before
        known = list(context)
        for verification in drafter.seen:
            assert verification.context == tuple(known)
            assert verification.rows is not None
            assert len(verification.rows) == len(verification.evaluated)
            known += verification.tokens
        assert known == [*context, *reply]
        assert reply == list(generate(ScriptedModel(2), context, sampler, limit, no_end))


def test_a_drafter_learns_while_drafting_is_off() -> None:
    """Drafts of noise are given up; the last row of the prefill is learnt from, and so is all that follows."""
    model, drafter = ScriptedModel(2), Recorder([4, 4, 4])
    decoder = decoder_of(model, drafter, Greedy(), 1.0)
    list(decoder.generate([5, 9, 14], 100, no_end))
    assert "drafting is off" in decoder.statistics.note
    assert drafter.seen[0].context == (5, 9, 14)
    assert sum(not verification.draft.tokens for verification in drafter.seen) > 80
    recycling = TokenRecycling(model.vocab_size, branching=False)
    for verification in drafter.seen:
        recycling.observe(verification)
    said = drafter.seen[-1]
    assert recycling.propose(said.context, 1).tokens == (said.next_token,)


@pytest.mark.parametrize("wrong", [0, 3, 7])
def test_a_guess_is_gone_on_with_after_the_place_where_it_was_wrong(wrong: int) -> None:
    plain = list(generate(ScriptedModel(2), [5, 9], Greedy(), 30, no_end))
    model = ScriptedModel(2)
    decoder = decoder_of(model, Recorder([]), Greedy(), 0.0)
    list(decoder.generate([5, 9], 6, no_end))
    list(decoder.generate([5, 9, *plain[:6]], 4, no_end))  # measures what a forward costs
    rest, before = plain[10:], model.counters.forwards
    guess = [*rest[:wrong], 4, *rest[wrong + 1 :]]
    assert list(decoder.generate([5, 9, *plain[:10]], 20, no_end, guesses=[guess])) == rest
    assert model.counters.forwards - before < 20
