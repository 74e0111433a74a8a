"""Candidates by prompt: the newest are kept, and taken once. As one tree: every candidate is in it, shared beginnings
once, and costs decide how much of it is evaluated."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.costs.curve import Curve
from predtui.decoding.draft import Draft
from predtui.llm.llamacpp.model import LEAVES
from predtui.predgen.candidates import (
    MOST_CANDIDATES,
    AcceptanceEstimate,
    Budget,
    CandidateReply,
    Candidates,
    candidate_tree,
    worth,
)
from tests.curves import curve

END = 0
tokens = st.lists(st.integers(1, 3), max_size=6)
ended = st.tuples(tokens, st.booleans()).map(lambda one: [*one[0], END] if one[1] else one[0])
candidates = st.lists(ended, min_size=1, max_size=4)


def path(tree: Draft, node: int) -> list[int]:
    return [] if node < 0 else [*path(tree, tree.parents[node]), tree.tokens[node]]


def tree_of(many: list[list[int]], room: int = 100, costs: Curve | None = None) -> Draft:
    return candidate_tree(many, lambda token: token == END, AcceptanceEstimate(), Budget(room, costs))


@given(candidates)
def test_the_paths_of_the_tree_are_the_beginnings_of_the_candidates(many: list[list[int]]) -> None:
    tree = tree_of(many)
    beginnings = {tuple(one[: n + 1]) for one in many for n in range(len(one))}
    assert {tuple(path(tree, node)) for node in range(len(tree.tokens))} == beginnings
    assert len(tree.tokens) == len(beginnings)
    assert all(parent < min(node, tree.evaluated) for node, parent in enumerate(tree.parents))
    assert END not in tree.tokens[: tree.evaluated]
    assert set(tree.tokens[tree.evaluated :]) <= {END}


@given(candidates, st.integers(0, 30))
def test_the_first_candidate_is_always_whole_and_the_others_fit_or_stay_out(many: list[list[int]], room: int) -> None:
    tree = tree_of(many, room)
    assert many[0] in [[], *(path(tree, node) for node in range(len(tree.tokens)))]
    assert tree.evaluated <= max(room, len(many[0]))


@given(candidates)
def test_a_wide_forward_that_costs_nothing_takes_all_and_one_that_costs_a_forward_a_token_takes_none(
    many: list[list[int]],
) -> None:
    assert tree_of(many, costs=curve(1.0, 0.0)) == tree_of(many)
    assert tree_of(many, costs=curve(1.0, 1.0)).evaluated == 0


def test_there_are_never_more_branches_than_an_engine_takes() -> None:
    tree = tree_of([[token] for token in range(1, 60)], room=200)
    assert tree.evaluated == MOST_CANDIDATES <= LEAVES


def test_what_is_worth_verifying_is_what_saves_more_than_it_costs() -> None:
    chances = [0.9, 0.8, 0.5, 0.2, 0.1]
    assert worth(chances, 1, curve(1.0, 0.4)) == 3
    assert worth(chances, 1, curve(1.0, 0.0)) == 5
    assert worth(chances, 1, Curve()) == 5
    assert worth([], 1, curve(1.0, 0.4)) == 0


def test_experience_changes_what_is_expected() -> None:
    seen = AcceptanceEstimate()
    before = seen.chance(0, 0), seen.chance(1, 0)
    assert before[0] > before[1]
    for _ in range(50):
        seen.observe(0, rejected=True)
        seen.rescued(won=True)
    assert seen.chance(0, 0) < 0.1 < before[0]
    assert seen.chance(1, 0) / seen.chance(0, 0) > before[1] / before[0]


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


prompts = st.lists(st.integers(0, 5), max_size=12)


@given(prompts, st.integers(-1, 4))
def test_the_newest_candidates_are_kept(said: list[int], size: int) -> None:
    kept = Candidates(size)
    for number, prompt in enumerate(said):
        kept.keep([prompt], CandidateReply((number,)))
    newest = list(dict.fromkeys(reversed(said)))[: max(0, size)]
    last = {prompt: number for number, prompt in enumerate(said)}
    assert kept.newest() == [(last[prompt],) for prompt in newest]
    for prompt in newest:
        assert kept.get([prompt]) == kept.take([prompt]) == CandidateReply((last[prompt],))
        assert kept.take([prompt]) is None


@given(st.integers(1, 4), st.integers(0, 20))
def test_what_is_asked_for_again_and_again_stays(size: int, others: int) -> None:
    kept = Candidates(size + 1)
    kept.keep([0], CandidateReply((7,)))
    for number in range(1, others + 1):
        kept.keep([number], CandidateReply((number,)))
        if number % size == 0:
            assert kept.get([0]) == CandidateReply((7,))
    assert len(kept.newest()) == min(size, others) + 1
