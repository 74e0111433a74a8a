from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.recycling import CANDIDATES, LEVELS, TokenRecycling, shape
from predtui.llm.rows import ArrayRows, PartialRow, RowList


@given(st.integers(0, 90), st.booleans())
def test_a_shape_is_a_tree_grown_by_ranks(budget: int, branching: bool) -> None:
    nodes = shape(budget, branching)
    assert len(nodes) == (min(budget, sum(LEVELS)) if branching else budget)
    assert len(set(nodes)) == len(nodes)
    for node, (parent, rank) in enumerate(nodes):
        assert -1 <= parent < node
        assert rank < CANDIDATES
        assert rank == 0 or nodes.index((parent, rank - 1)) < node


def test_the_whole_tree_has_the_papers_levels() -> None:
    depths: list[int] = []
    for parent, _ in shape(sum(LEVELS)):
        depths.append(depths[parent] + 1 if parent >= 0 else 1)
    assert tuple(depths.count(depth) for depth in range(1, max(depths) + 1)) == (8, 21, 25, 15, 8, 3)


def test_candidates_of_the_largest_vocabularies_stay_below_two_megabytes() -> None:
    """Tokens that share a row never have each other's candidates."""
    vocab_size = 262_144
    tracemalloc.start()
    drafter = TokenRecycling(vocab_size, branching=True)
    for token in range(0, vocab_size, 512):
        likeliest = [(100 + rank, -float(rank)) for rank in range(CANDIDATES)]
        said = Verification((token,), Draft(()), (), 0, True, RowList([PartialRow(likeliest)]))
        drafter.observe(said)
        assert drafter.propose([token], 1).tokens == (100,)
        assert not drafter.propose([token + 1], 1).tokens
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 2_000_000


def test_candidates_after_a_rejected_token_are_kept_too() -> None:
    drafter = TokenRecycling(12, branching=False)
    rows = ArrayRows(np.eye(12, dtype=np.float32)[[5, 6, 7]])
    drafter.observe(Verification((1,), Draft((2, 3)), (), 5, True, rows))
    assert drafter.propose([3], 1).tokens == (7,)


@given(st.lists(st.integers(0, 11), min_size=1, max_size=9), st.integers(0, 12), st.booleans(), st.integers(0, 99))
def test_every_edge_of_a_draft_was_among_the_likeliest(
    evaluated: list[int], budget: int, branching: bool, seed: int
) -> None:
    drafter = TokenRecycling(12, branching)
    assert drafter.propose([evaluated[0]], budget).tokens == ()
    rows = np.random.default_rng(seed).normal(size=(len(evaluated), 12)).astype(np.float32)
    drafter.observe(Verification((evaluated[0],), Draft(tuple(evaluated[1:])), (), 0, True, ArrayRows(rows)))
    draft = drafter.propose([evaluated[-1]], budget)
    likeliest = {token: list(np.argsort(-row)[:CANDIDATES]) for token, row in zip(evaluated, rows, strict=True)}
    assert len(draft.tokens) <= budget
    assert bool(draft.tokens) == bool(budget)
    for node, token in enumerate(draft.tokens):
        parent = draft.parents[node] if draft.parents else node - 1
        before = draft.tokens[parent] if parent >= 0 else evaluated[-1]
        assert token in likeliest[before]
        assert branching or token == likeliest[before][0]
