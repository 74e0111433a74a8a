from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.recycling import CANDIDATES, TokenRecycling, shape
from predtui.llm.rows import ArrayRows


@given(st.integers(0, 40), st.integers(1, CANDIDATES))
def test_a_shape_is_a_tree_of_so_many_nodes_grown_by_ranks(budget: int, ranks: int) -> None:
    nodes = shape(budget, ranks)
    assert len(nodes) == budget
    assert len(set(nodes)) == budget
    for node, (parent, rank) in enumerate(nodes):
        assert -1 <= parent < node
        assert rank < ranks
        assert rank == 0 or nodes.index((parent, rank - 1)) < node


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
