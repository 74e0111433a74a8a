from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.fused import Fused, merged
from predtui.llm.rows import RowList

sequences = st.lists(st.integers(0, 2), min_size=1, max_size=6).map(lambda tokens: Draft(tuple(tokens)))


@st.composite
def trees(draw: st.DrawFn) -> Draft:
    """Random trees in which no two siblings are equal."""
    tokens: list[int] = []
    parents: list[int] = []
    for parent, token in draw(st.lists(st.tuples(st.integers(-1, 7), st.integers(0, 2)), min_size=1, max_size=8)):
        if parent < len(tokens) and (parent, token) not in zip(parents, tokens, strict=True):
            parents.append(parent)
            tokens.append(token)
    return Draft(tuple(tokens), tuple(parents))


def paths(draft: Draft) -> set[tuple[int, ...]]:
    """Every path from the context to a node."""
    found: set[tuple[int, ...]] = set()
    waiting: list[tuple[int, tuple[int, ...]]] = [(-1, ())]
    while waiting:
        node, path = waiting.pop()
        for child in draft.children(node):
            found.add((*path, draft.tokens[child]))
            waiting.append((child, (*path, draft.tokens[child])))
    return found


@given(sequences | trees(), sequences | trees())
def test_a_merged_tree_has_the_paths_of_both_and_no_other(first: Draft, second: Draft) -> None:
    tree = merged(first, second)
    assert paths(tree) == paths(first) | paths(second)
    assert len(tree.tokens) == len(paths(tree))
    assert all(parent < node for node, parent in enumerate(tree.parents))
    assert tree.tokens[: len(first.tokens)] == first.tokens


class Fixed:
    def __init__(self, *tokens: int) -> None:
        self._tokens, self.seen, self.resets = tokens, 0, 0

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        return Draft(self._tokens[:budget])

    def observe(self, verification: Verification) -> None:
        self.seen += 1

    def reset(self) -> None:
        self.resets += 1


@given(st.lists(st.integers(0, 3), max_size=4), st.lists(st.integers(0, 3), max_size=4), st.integers(1, 9))
def test_the_first_leads_and_the_second_fills_in(one: list[int], two: list[int], budget: int) -> None:
    plain = Fused(Fixed(*one), Fixed(*two), branching=False).propose([1], budget)
    assert list(plain.tokens) == (one or two)[:budget]
    tree = Fused(Fixed(*one), Fixed(*two), branching=True).propose([1], budget)
    assert len(tree.tokens) <= budget
    assert paths(Draft(tuple(one[:budget]))) <= paths(tree)


def test_both_are_told() -> None:
    first, second = Fixed(1), Fixed(2)
    fused = Fused(first, second, branching=True)
    fused.observe(Verification((1,), Draft(()), (), 1, True, RowList([])))
    fused.reset()
    assert (first.seen, second.seen, first.resets, second.resets) == (1, 1, 1, 1)
