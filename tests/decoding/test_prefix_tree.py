"""Merged paths: each can be read again, what they share is there once, and a tree that is grafted stays what it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.draft import Draft, unless_sequence
from predtui.decoding.prefix_tree import PrefixTree

PATHS = st.lists(st.lists(st.integers(0, 3), max_size=6), max_size=8)


def grown(paths: list[list[int]]) -> PrefixTree:
    tree = PrefixTree()
    for path in paths:
        tree.add(path)
    return tree


def read(tree: PrefixTree, node: int) -> list[int]:
    path: list[int] = []
    while node >= 0:
        path.append(tree.tokens[node])
        node = tree.parents[node]
    return path[::-1]


@given(PATHS)
def test_a_tree_holds_the_prefixes_of_its_paths_once_each(paths: list[list[int]]) -> None:
    tree = grown(paths)
    prefixes = {tuple(path[:length]) for path in paths for length in range(1, len(path) + 1)}
    held = [tuple(read(tree, node)) for node in range(len(tree))]
    assert sorted(held) == sorted(prefixes)
    assert all(parent < node for node, parent in enumerate(tree.parents))


@given(PATHS, PATHS)
def test_a_grafted_tree_keeps_its_paths_and_a_draft_is_one(first: list[list[int]], second: list[list[int]]) -> None:
    tree, other = grown(first), grown(second)
    before = len(tree)
    draft = Draft(tuple(other.tokens), unless_sequence(other.parents))
    places = tree.graft(draft.nodes())
    assert [read(tree, place) for place in places] == [read(other, node) for node in range(len(other))]
    assert len(tree) == len(grown(first + second))
    assert [read(tree, node) for node in range(before)] == [read(grown(first), node) for node in range(before)]
