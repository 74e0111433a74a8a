"""Drafts as sequences and as trees: what follows what, and what is left of them when they are cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.draft import Draft


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    """A tree of at most twelve tokens, some leaves of which at the end are its tail; or a sequence."""
    count = draw(st.integers(0, 12))
    tokens = tuple(draw(st.lists(st.integers(4, 40), min_size=count, max_size=count)))
    if draw(st.booleans()):
        return Draft(tokens)
    parents = tuple(draw(st.integers(-1, node - 1)) for node in range(count))
    leaves = next((n for n in range(count + 1) if not {*parents} & {*range(count - n - 1, count)}), count)
    return Draft(tokens, parents, tail=draw(st.integers(0, min(leaves, count))))


@given(drafts())
def test_parents_and_children_agree(draft: Draft) -> None:
    for node in range(-1, len(draft.tokens)):
        assert [*draft.children(node)] == [i for i in range(len(draft.tokens)) if draft.parent(i) == node]
        for child in draft.children(node):
            assert draft.tokens[draft.child(node, draft.tokens[child])] == draft.tokens[child]
        assert draft.child(node, 99) == -1


@given(drafts(), st.integers(0, 12))
def test_its_beginning_is_a_draft_too(draft: Draft, count: int) -> None:
    cut = draft.first(count)
    assert cut.tokens == draft.tokens[:count]
    assert cut.evaluated == min(draft.evaluated, count)
    assert [cut.parent(node) for node in range(len(cut.tokens))] == [draft.parent(n) for n in range(len(cut.tokens))]


@given(drafts())
def test_the_best_path_follows_the_first_children_and_never_branches(draft: Draft) -> None:
    path = draft.best_path()
    assert not path.branches
    node = -1
    for depth, token in enumerate(path.tokens):
        node = draft.children(node)[0]
        assert (token, depth < path.evaluated) == (draft.tokens[node], node < draft.evaluated)
    assert not [*draft.children(node)]
    assert draft.depth(()) == len(path.tokens)


@given(drafts())
def test_it_branches_where_an_evaluated_token_does_not_follow_the_one_before(draft: Draft) -> None:
    assert draft.branches == any(draft.parent(node) != node - 1 for node in range(draft.evaluated))
