"""Speculative Jacobi decoding: greedy it is Jacobi decoding; at a temperature it has the target's distribution."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.jacobi import Jacobi
from predtui.decoding.sampler import Greedy, Seeded
from predtui.decoding.sjd import SpeculativeJacobi
from predtui.llm.scripted import ScriptedModel

PROMPT = [5, 9, 14]
guesses = st.lists(st.integers(4, 40), max_size=40)


def ends(token: int) -> bool:
    return token == 0


@given(st.integers(0, 9), guesses, st.integers(1, 20), st.integers(0, 40), st.integers(0, 9))
@settings(max_examples=50, deadline=None)
def test_greedily_its_criterion_is_that_of_jacobi_decoding(
    seed: int, guess: list[int], block: int, limit: int, position: int
) -> None:
    ways = [kind(ScriptedModel(seed, context=30), Greedy(), block) for kind in (SpeculativeJacobi, Jacobi)]
    replies = [list(way.generate(PROMPT, limit, ends, position=position, guesses=[guess])) for way in ways]
    assert replies[0] == replies[1]
    assert ways[0].statistics == ways[1].statistics


@given(st.integers(0, 9), st.integers(0, 99), guesses, st.integers(1, 20), st.integers(0, 40))
@settings(max_examples=50, deadline=None)
def test_each_forward_brings_a_token_and_no_more_than_were_asked_for(
    seed: int, noise: int, guess: list[int], block: int, limit: int
) -> None:
    model = ScriptedModel(seed, context=30)
    decoder = SpeculativeJacobi(model, Seeded(0.8, seed=noise), block)
    reply = list(decoder.generate(PROMPT, limit, ends, guesses=[guess]))
    assert len(reply) == limit or len(reply) + len(PROMPT) == 31 or ends(reply[-1])
    assert decoder.statistics.forwards == model.counters.forwards <= len(reply)
    assert sum(map(ends, reply[:-1])) == 0
