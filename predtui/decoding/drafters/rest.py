"""Retrieval-based speculative decoding (REST, He et al. 2024): what followed the same words in a corpus, follows again.

Must not know how the datastore is made or kept.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from itertools import count

import numpy as np

from predtui.decoding.base import WIDEST, Drafter
from predtui.decoding.datastore import GAP, Datastore, Tokens
from predtui.decoding.draft import Draft, Verification, unless_sequence
from predtui.decoding.parts import Parts

SHORTEST, LEAST = 2, 2
"""Tokens that must match, and how often: a single word, or a single occurrence, foretells little."""
MATCHES = 32
"""Occurrences looked at, spread evenly over all there are."""
AHEAD = 16
"""Tokens that ``Foresight`` reads after each occurrence at once."""
UNLIKELY = 0.05
"""A tree has no token that is followed with less of a chance: there are many of these, and none is worth a look."""
_DOUBT, _LESS = 0.5, 0.05
"""Occurrences of something else that a corpus is thought to have left out: after the context; after a token more, which
the same occurrences foretold."""


class Retrieval:
    """Proposes the likeliest continuations of the longest match as a tree: of all runs of tokens that followed it, the
    ``budget`` prefixes that most of them share (REST, section 3.2)."""

    def __init__(self, store: Datastore) -> None:
        self._store = store

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        budget = min(budget, WIDEST)
        rows = self._store.following(_places(self._store, context), budget)
        return _commonest(rows, budget) if rows.size else Draft((), source="rest")

    def observe(self, verification: Verification) -> None:
        """The corpus does not change."""

    def reset(self) -> None:
        """Nothing is remembered."""


class Foresight:
    """What a corpus says next. Whatever tokens are taken, the occurrences that go on with them go on being read; it
    looks again, for a longer context, where too few of them do."""

    def __init__(self, store: Datastore, context: Sequence[int]) -> None:
        self._store, self._known = store, list(context)
        self._rows: list[list[int]] = []
        self._column = 0

    def ahead(self, most: int, least: float) -> list[tuple[int, float]]:
        """At most so many tokens that follow, each with the chance that it does where those before it do; as long as
        the chance of all together is above ``least``."""
        if len(self._rows) < LEAST or self._column >= AHEAD:
            self._look()
        rows, run, together = self._rows, list[tuple[int, float]](), 1.0
        for column in range(self._column, min(self._column + most, AHEAD)):
            if len(rows) < LEAST:
                break
            token, chance = _commonest_token([row[column] for row in rows], _LESS if column else _DOUBT)
            together *= chance
            if together <= least:
                break
            run.append((token, chance))
            rows = [row for row in rows if row[column] == token]
        return run

    def _look(self) -> None:
        self._rows = self._store.following(_places(self._store, self._known), AHEAD).tolist()
        self._column = 0

    def take(self, token: int) -> None:
        """Go on after ``token``."""
        column = self._column
        self._known.append(token)
        self._rows = [row for row in self._rows if row[column] == token] if column < AHEAD else []
        self._column += 1


def _commonest_token(column: list[int], doubt: float) -> tuple[int, float]:
    """What most occurrences go on with, and its chance: where they differ, others are as likely to be meant here."""
    counts = Counter(column)
    token = max(counts, key=counts.__getitem__)
    times = counts[token]
    return token, 0.0 if token == GAP else max(0.0, (2 * times - len(column)) / (len(column) + doubt))


def _places(store: Datastore, context: Sequence[int]) -> Tokens:
    """After occurrences of the longest match; none where it is too short."""
    length, places = store.longest_match(context, LEAST)
    if length < SHORTEST:
        places = places[:0]
    elif len(places) > MATCHES:
        places = places[np.linspace(0, len(places) - 1, MATCHES).astype(np.int64)]
    return places


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
    while waiting and len(tokens) < budget and -waiting[0][0] > UNLIKELY:
        unlikely, _, token, parent, group = heapq.heappop(waiting)
        tokens.append(token)
        parents.append(parent)
        chances.append(-unlikely)
        depths.append(depths[parent + 1] + 1)
        wait(group, depths[-1], len(tokens) - 1, -unlikely)
    return Draft(tuple(tokens), unless_sequence(parents), source="rest", chances=tuple(chances))


def make(parts: Parts) -> Drafter:
    return Retrieval(parts.needed_datastore())
