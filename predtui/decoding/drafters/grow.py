"""A tree of guesses grown best first: the node that is likeliest to be accepted comes next. Must not know of models."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import count

from predtui.decoding.draft import Draft, unless_sequence

Path = tuple[int, ...]
Options = Sequence[tuple[int, float]]
"""Tokens that may follow, the likeliest first, each with its chance where what is before it is accepted."""


def grow(after: Callable[[Path], Options], budget: int, least: float = 0.0, source: str = "") -> Draft:
    """Of all trees of at most ``budget`` nodes the one with the highest sum of chances, which is the expected number of
    accepted tokens; none of its nodes is less likely than ``least``.

    ``after``: what may follow a path, empty for nothing. It is asked only where something that follows may be likelier
    than all that waits: never more often than there are nodes.
    """
    tokens: list[int] = []
    parents: list[int] = []
    chances: list[float] = []
    paths: list[Path] = [()]
    number = count()
    waiting: list[tuple[float, int, int, float, Options | None]] = [(-1.0, next(number), -1, 1.0, None)]
    """(minus chance, number, node, chance of the node, what may follow it: None while that is not asked)."""
    while waiting and len(tokens) < budget:
        unlikely, _, parent, above, options = heapq.heappop(waiting)
        if options is None:
            options = after(paths[parent + 1])
        else:
            tokens.append(options[0][0])
            parents.append(parent)
            chances.append(-unlikely)
            paths.append((*paths[parent + 1], tokens[-1]))
            heapq.heappush(waiting, (unlikely, next(number), len(tokens) - 1, -unlikely, None))
            options = options[1:]
        if options and above * options[0][1] > least:
            heapq.heappush(waiting, (-above * options[0][1], next(number), parent, above, options))
    return Draft(tuple(tokens), unless_sequence(parents), source=source, chances=tuple(chances))
