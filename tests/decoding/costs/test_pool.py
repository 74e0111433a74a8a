"""Several drafts as one tree: whatever is proposed once, no more than there is room for, the likeliest first."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.base import WIDEST
from predtui.decoding.costs.pool import Proposal, pooled
from predtui.decoding.draft import Draft
from tests.decoding.drafters.test_fused import paths, trees


@st.composite
def proposals(draw: st.DrawFn) -> list[Proposal]:
    found = []
    for name in "abc"[: draw(st.integers(1, 3))]:
        draft = draw(trees())
        if not draft.tokens:
            draft = Draft((1,))
        chances: list[float] = []
        for node in range(len(draft.tokens)):
            parent = draft.parent(node)
            chances.append(draw(st.floats(0.0, 1.0)) * (chances[parent] if parent >= 0 else 1.0))
        found.append(Proposal(Draft(draft.tokens, draft.parents, source=name), chances))
    return found


@given(proposals(), st.integers(1, 40))
def test_a_pool_holds_what_is_proposed_and_the_likeliest_of_it(found: list[Proposal], room: int) -> None:
    pool = pooled(found, room)
    assert 0 < len(pool.tokens) <= room
    assert len(pool.chances) == len(pool.tokens)
    assert paths(pool) <= set(itertools.chain.from_iterable(paths(one.draft) for one in found))
    if len(found) > 1:
        assert list(pool.chances) == sorted(pool.chances, reverse=True)
        leaves = {*range(len(pool.tokens))} - {*pool.parents}
        assert not pool.parents or len(leaves) <= WIDEST
        assert {*pool.origins} <= {*"abc"}
        whole = pooled(found, 10_000)
        if not whole.parents or len({*range(len(whole.tokens))} - {*whole.parents}) < WIDEST:
            assert paths(whole) == set(itertools.chain.from_iterable(paths(one.draft) for one in found))
    for node in range(len(pool.tokens)):
        assert pool.parent(node) < node
        siblings = [pool.chances[child] for child in pool.children(node)]
        assert sum(siblings) <= pool.chances[node] + 1e-9 or len(found) == 1, "one token alone follows"


def test_what_follows_the_surest_shares_what_that_leaves() -> None:
    one, other = Draft((1, 2), source="one"), Draft((1, 3), source="other")
    pool = pooled([Proposal(one, (0.8, 0.4)), Proposal(other, (0.5, 0.25))], 9)
    assert (pool.tokens, pool.parents) == ((1, 2, 3), (-1, 0, 0))
    assert [round(chance, 6) for chance in pool.chances] == [0.8, 0.4, 0.125]
    assert pool.origins == ("one", "one", "other")
    assert pool.source == "one"
