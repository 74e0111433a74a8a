"""Retrieval-based speculative decoding (REST, He et al. 2024): what followed the same words in a corpus, follows again.

Must not know how the datastore is made or kept.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from itertools import count

import numpy as np

from predtui.decoding.base import Draft, Verification
from predtui.decoding.datastore import Datastore, Tokens

SHORTEST = 2
"""Tokens that must match: a single one foretells nothing."""
MATCHES = 64
"""Occurrences looked at, spread evenly over all there are."""


class Retrieval:
    """Proposes the likeliest continuations of the longest match as a tree: of all runs of tokens that followed it, the
    ``budget`` prefixes that most of them share (REST, section 3.2)."""

    def __init__(self, store: Datastore) -> None:
        self._store = store

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        length, places = self._store.longest_match(context)
        if length < SHORTEST or budget < 1:
            return Draft((), source="rest")
        if len(places) > MATCHES:
            places = places[np.linspace(0, len(places) - 1, MATCHES).astype(np.int64)]
        return _commonest(self._store.following(places, budget), budget)

    def observe(self, verification: Verification) -> None:
        """The corpus does not change."""

    def reset(self) -> None:
        """Nothing is remembered."""


def _commonest(rows: Tokens, budget: int) -> Draft:
    """The tree of the ``budget`` commonest prefixes of ``rows`` [m, depth], ancestors before descendants."""
    tokens: list[int] = []
    parents: list[int] = []
    number = count()
    waiting: list[tuple[int, int, int, int, list[list[int]]]] = []

    def wait(group: list[list[int]], depth: int, parent: int) -> None:
        """The ways in which ``group``, which shares its first ``depth`` tokens, goes on."""
        for token, times in Counter(row[depth] for row in group if len(row) > depth).items():
            if token >= 0:
                same = [row for row in group if len(row) > depth and row[depth] == token]
                heapq.heappush(waiting, (-times, next(number), token, parent, same))

    depths = [0]
    wait(rows.tolist(), 0, -1)
    while waiting and len(tokens) < budget:
        _, _, token, parent, group = heapq.heappop(waiting)
        tokens.append(token)
        parents.append(parent)
        depths.append(depths[parent + 1] + 1)
        wait(group, depths[-1], len(tokens) - 1)
    linear = parents == list(range(-1, len(parents) - 1))
    return Draft(tuple(tokens), () if linear else tuple(parents), source="rest")
