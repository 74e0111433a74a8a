"""The drafts of several sources as one tree, of what is likeliest to be accepted (as RASD, 2025, fuses two of them).

A token that several propose stands in it once, with the chance that the surest of them gives it. Must not know what the
sources are, or of what a forward costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from predtui.decoding.base import WIDEST
from predtui.decoding.draft import Draft, unless_sequence
from predtui.decoding.prefix_tree import PrefixTree


class Proposal(NamedTuple):
    """A draft with the chance of each of its tokens to be accepted, never above that of the one before it."""

    draft: Draft
    chances: Sequence[float]


def pooled(proposals: Sequence[Proposal], room: int) -> Draft:
    """A tree of at most ``room`` tokens and ``WIDEST`` branches, the likeliest tokens first. Its source is that of the
    likeliest first token. ``proposals``: at least one, none of them empty."""
    if len(proposals) == 1:
        draft, chances = proposals[0]
        return Draft(draft.tokens, draft.parents, None, draft.source, chances=tuple(chances)).first(room)
    tree, chances, origins = _union(proposals)
    chances = _shared(tree.parents, chances)
    kept: dict[int, int] = {-1: -1}
    parents: set[int] = set()
    branches = 1
    for node in sorted(range(len(tree)), key=lambda node: -chances[node]):
        parent = tree.parents[node]
        opens = parent in parents
        if len(kept) > room or parent not in kept or (opens and branches == WIDEST):
            continue
        branches += opens
        parents.add(parent)
        kept[node] = len(kept) - 1
    chosen = [node for node in kept if node >= 0]
    above = [kept[tree.parents[node]] for node in chosen]
    return Draft(
        tuple(tree.tokens[node] for node in chosen),
        unless_sequence(above),
        source=origins[chosen[0]],
        origins=tuple(origins[node] for node in chosen),
        chances=tuple(chances[node] for node in chosen),
    )


def _union(proposals: Sequence[Proposal]) -> tuple[PrefixTree, list[float], list[str]]:
    """The tree of all, with the chances of its nodes and who gives them."""
    tree = PrefixTree()
    chances: list[float] = []
    origins: list[str] = []
    for draft, given in proposals:
        for number, (node, chance) in enumerate(zip(tree.graft(draft.nodes()), given, strict=True)):
            if node == len(chances):
                chances.append(chance)
                origins.append(draft.origin(number))
            elif chance > chances[node]:
                chances[node], origins[node] = chance, draft.origin(number)
    return tree, chances, origins


def _shared(parents: Sequence[int], chances: Sequence[float]) -> list[float]:
    """``chances``, where what follows one node is one token: the surest is taken at its word, and others share what it
    leaves, as with siblings that are tried one after another."""
    below: dict[int, list[int]] = {}
    for number, parent in enumerate(parents):
        below.setdefault(parent, []).append(number)
    shared = [*chances]
    for number in range(-1, len(parents)):  # parents come before their children
        given, left = (chances[number], shared[number]) if number >= 0 else (1.0, 1.0)
        for child in sorted(below.get(number, ()), key=lambda child: -chances[child]):
            step = min(1.0, chances[child] / given) if given else 0.0
            shared[child] = left * step
            left *= 1 - step
    return shared
