"""Retrieval-based speculative decoding (REST, He et al. 2024): what followed the same words in a corpus, follows again.

Must not know how the datastore is made or kept.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np

from predtui.decoding.base import Draft, Verification
from predtui.decoding.datastore import GAP, Datastore, Tokens

SHORTEST, LEAST = 2, 2
"""Tokens that must match, and how often: a single word, or a single occurrence, foretells little."""
MATCHES = 64
"""Occurrences looked at, spread evenly over all there are."""
AHEAD = 8
"""Tokens that ``foretold`` reads after each occurrence at once."""
_DOUBT = 0.5
"""Occurrences of something else that a corpus is thought to have left out."""


class Retrieval:
    """Proposes the likeliest continuations of the longest match as a tree: of all runs of tokens that followed it, the
    ``budget`` prefixes that most of them share (REST, section 3.2)."""

    def __init__(self, store: Datastore) -> None:
        self._store = store

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        rows = _following(self._store, context, budget)
        return _commonest(rows, budget) if rows.size else Draft((), source="rest")

    def observe(self, verification: Verification) -> None:
        """The corpus does not change."""

    def reset(self) -> None:
        """Nothing is remembered."""


def foretold(store: Datastore, context: Sequence[int]) -> Iterator[tuple[int, float]]:
    """The likeliest tokens after ``context``, one after another, each with the chance that it follows the one before;
    as far as the corpus goes. Looks again, for a longer context, where too few occurrences agree."""
    known = list(context)
    while (rows := _following(store, known, AHEAD)).size:
        for column in range(AHEAD):
            token, times = Counter(rows[:, column].tolist()).most_common(1)[0]
            if token == GAP:
                return
            yield token, times / (len(rows) + _DOUBT)
            known.append(token)
            rows = rows[rows[:, column] == token]
            if len(rows) < LEAST:
                break


def _following(store: Datastore, context: Sequence[int], depth: int) -> Tokens:
    """The tokens [m, depth] after occurrences of the longest match; none where it is too short."""
    length, places = store.longest_match(context, LEAST)
    if length < SHORTEST:
        places = places[:0]
    elif len(places) > MATCHES:
        places = places[np.linspace(0, len(places) - 1, MATCHES).astype(np.int64)]
    return store.following(places, depth)


def _commonest(rows: Tokens, budget: int) -> Draft:
    """The tree of the ``budget`` likeliest prefixes of ``rows`` [m, depth], ancestors before descendants."""
    tokens: list[int] = []
    parents: list[int] = []
    chances: list[float] = []
    number = count()
    waiting: list[tuple[float, int, int, int, list[list[int]]]] = []

    def wait(group: list[list[int]], depth: int, parent: int, chance: float) -> None:
        """The ways in which ``group``, which shares its first ``depth`` tokens, goes on."""
        for token, times in Counter(row[depth] for row in group if len(row) > depth).items():
            if token != GAP:
                same = [row for row in group if row[depth] == token]
                likely = chance * times / (len(group) + _DOUBT)
                heapq.heappush(waiting, (-likely, next(number), token, parent, same))

    depths = [0]
    wait(rows.tolist(), 0, -1, 1.0)
    while waiting and len(tokens) < budget:
        unlikely, _, token, parent, group = heapq.heappop(waiting)
        tokens.append(token)
        parents.append(parent)
        chances.append(-unlikely)
        depths.append(depths[parent + 1] + 1)
        wait(group, depths[-1], len(tokens) - 1, -unlikely)
    linear = parents == list(range(-1, len(parents) - 1))
    return Draft(tuple(tokens), () if linear else tuple(parents), source="rest", chances=tuple(chances))
