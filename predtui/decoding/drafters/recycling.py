"""Token Recycling (Luo et al. 2024): what the target thought likely after a token, it may think likely again.

An adjacency matrix keeps the candidates of each token out of the target's last forwards; a tree of fixed shape is
read off it breadth first. Must not know of models.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import cache

import numpy as np

from predtui.decoding.base import WIDEST, Drafter
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.parts import Parts

CANDIDATES = 8
"""Successors kept for each token."""
_CHANCE = tuple(0.55 * 0.4**rank for rank in range(CANDIDATES))
"""How likely the candidate of each rank is taken to be when the shape of a tree is chosen."""
_UNKNOWN = -1


class TokenRecycling:
    """4 bytes x ``CANDIDATES`` a token of the vocabulary, kept from reply to reply."""

    def __init__(self, vocab_size: int, branching: bool) -> None:
        """``branching``: whether the target evaluates trees; else drafts are sequences of first candidates."""
        self._matrix = np.full((vocab_size, CANDIDATES), _UNKNOWN, np.int32)
        self._ranks = CANDIDATES if branching else 1

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        tokens: list[int] = []
        parents: list[int] = []
        nodes = {-1: -1}
        """Node of the shape → node of the draft; what has no candidate is left out with all below it."""
        for node, (parent, rank) in enumerate(shape(min(budget, WIDEST), self._ranks)):
            if parent not in nodes:
                continue
            above = nodes[parent]
            token = int(self._matrix[tokens[above] if above >= 0 else context[-1], rank])
            if token != _UNKNOWN:
                nodes[node] = len(tokens)
                tokens.append(token)
                parents.append(above)
        return Draft(tuple(tokens), tuple(parents) if self._ranks > 1 else (), source="recycling")

    def observe(self, verification: Verification) -> None:
        for token, row in zip(verification.evaluated, verification.rows, strict=True):
            likeliest = row.top(CANDIDATES)
            self._matrix[token, : len(likeliest)] = likeliest

    def reset(self) -> None:
        """The matrix stays."""


@cache
def shape(budget: int, ranks: int) -> tuple[tuple[int, int], ...]:
    """(parent, rank) of the ``budget`` likeliest nodes of a tree, in an order in which parents come first and siblings
    by rank."""
    nodes: list[tuple[int, int]] = []
    waiting = [(-_CHANCE[0], -1, 0, 1.0)]
    while waiting and len(nodes) < budget:
        _, parent, rank, above = heapq.heappop(waiting)
        chance, node = above * _CHANCE[rank], len(nodes)
        nodes.append((parent, rank))
        heapq.heappush(waiting, (-chance * _CHANCE[0], node, 0, chance))
        if rank + 1 < ranks:
            heapq.heappush(waiting, (-above * _CHANCE[rank + 1], parent, rank + 1, above))
    return tuple(nodes)


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError where the target does not tell as many likely tokens as are kept."""
    parts.target.require("Token recycling", top=CANDIDATES)
    return TokenRecycling(parts.target.model.vocab_size, parts.target.abilities.trees)
