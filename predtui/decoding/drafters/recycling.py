"""Token Recycling (Luo et al. 2024): what the target thought likely after a token, it may think likely again.

An adjacency matrix keeps the candidates of each token out of the target's last forwards, after rejected tokens too; a
tree of fixed shape is read off it breadth first. The shape is the paper's by levels; which nodes of a level there are,
the paper has from trials, and chances that fall with the rank say here. Of the 80 nodes a draft has the likeliest, as
many as pay, since engines evaluate ``WIDEST`` branches. The matrix stays below the paper's 2 MB for any vocabulary:
in a large one tokens share rows, and the later one has it. Must not know of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from predtui.decoding.base import WIDEST, Drafter
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.parts import Parts
from predtui.llm.base import LanguageModel

CANDIDATES = 8
"""Successors kept for each token."""
LEVELS = (8, 21, 25, 15, 8, 3)
"""Nodes at each depth of the paper's tree."""
MEMORY, LEAST = 1_900_000, 36_000
"""Bytes that the matrix has at most: whatever else is kept, 2 MB are not reached; and at least."""
_CHANCE = tuple(0.55 * 0.4**rank for rank in range(CANDIDATES))
"""How likely the candidate of each rank is taken to be when the shape of a tree is chosen."""
ROW = np.dtype(np.int32).itemsize * (1 + CANDIDATES)
"""Bytes of a token's candidates, with the token itself."""
_UNKNOWN = -1


class TokenRecycling:
    """A row of candidates a token, with the token before them; kept from reply to reply."""

    def __init__(self, vocab_size: int, branching: bool, memory: int = MEMORY) -> None:
        """``branching``: whether the target evaluates trees; else drafts are sequences of first candidates;
        ``memory``: bytes that the matrix may have."""
        self._matrix = np.full((min(vocab_size, memory // ROW), 1 + CANDIDATES), _UNKNOWN, np.int32)
        self._branching = branching

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        tokens: list[int] = []
        parents: list[int] = []
        nodes = {-1: -1}
        """Node of the shape → node of the draft; what has no candidate is left out with all below it."""
        for node, (parent, rank) in enumerate(shape(min(budget, WIDEST), self._branching)):
            if parent not in nodes:
                continue
            above = nodes[parent]
            token = self._candidate(tokens[above] if above >= 0 else context[-1], rank)
            if token != _UNKNOWN:
                nodes[node] = len(tokens)
                tokens.append(token)
                parents.append(above)
        return Draft(tuple(tokens), tuple(parents) if self._branching else (), source="recycling")

    def observe(self, verification: Verification) -> None:
        for token, row in zip(verification.evaluated, verification.rows, strict=True):
            likeliest = row.top(CANDIDATES)
            kept = self._matrix[token % len(self._matrix)]
            kept[:] = _UNKNOWN
            kept[: 1 + len(likeliest)] = token, *likeliest

    def reset(self) -> None:
        """The matrix stays."""

    def _candidate(self, token: int, rank: int) -> int:
        row = self._matrix[token % len(self._matrix)]
        return int(row[1 + rank]) if row[0] == token else _UNKNOWN


@cache
def shape(budget: int, branching: bool = True) -> tuple[tuple[int, int], ...]:
    """(parent, rank) of the ``budget`` likeliest nodes of the tree, the likeliest first, so that parents come before
    their children and siblings by rank; of a sequence, where it may not branch."""
    if not branching:
        return tuple((node - 1, 0) for node in range(budget))
    level: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    nodes: list[tuple[tuple[int, ...], float]] = []
    for width in LEVELS:
        below = [((*path, rank), above * chance) for path, above in level for rank, chance in enumerate(_CHANCE)]
        level = sorted(below, key=_unlikely)[:width]
        nodes += level
    paths = [path for path, _ in sorted(nodes, key=_unlikely)[:budget]]
    return tuple((paths.index(path[:-1]) if path[:-1] else -1, path[-1]) for path in paths)


def _unlikely(node: tuple[tuple[int, ...], float]) -> float:
    return -node[1]


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError where the target does not tell as many likely tokens as are kept, or there is no room."""
    parts.target.require("Token recycling", top=CANDIDATES)
    return of(parts, "recycling", parts.target.model, parts.target.abilities.trees)


def of(parts: Parts, what: str, model: LanguageModel, branching: bool) -> TokenRecycling:
    """What ``model`` thought likely before, for the drafter ``what``. Raises PredtuiError where there is no room."""
    granted = parts.memory.table(what, min(MEMORY, model.vocab_size * ROW), min(LEAST, model.vocab_size * ROW))
    return TokenRecycling(model.vocab_size, branching, granted)
