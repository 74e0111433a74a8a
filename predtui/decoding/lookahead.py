"""Lookahead decoding (Fu et al. 2024): the target's own forward makes the n-grams that later forwards verify.

Beside guesses out of a pool, a draft carries a window of Jacobi iteration: columns of tokens at consecutive positions,
each ``LEVELS`` iterations deep. What the target says after a column completes an n-gram. The window's attention mask is
that of a tree: the newest tokens of the columns form a sequence, and each column's later tokens hang below its own.
Must not know of models or of verification.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from predtui.decoding.accept import ExactMatch
from predtui.decoding.base import WIDEST, Decoder
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.parts import Parts
from predtui.decoding.prefix_tree import PrefixTree
from predtui.decoding.speculative import Speculative

LEVELS = 3
"""Tokens of a column; n-grams are a token longer."""
GUESSES = 8
"""n-grams kept for each first token, the newest."""


class Lookahead:
    """Half of the budget goes to guesses, the rest to the window. The pool is kept from reply to reply."""

    def __init__(self) -> None:
        self._pool: dict[int, OrderedDict[tuple[int, ...], None]] = {}
        self._window: list[list[int]] = []
        self._columns: list[list[int]] = []
        """Nodes of the last draft that each column of the window had."""
        self._proposed: tuple[int, ...] = ()

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        budget, tree = min(budget, WIDEST), PrefixTree()
        for guess in reversed(self._pool.get(context[-1], ())):
            tree.add(guess[: (budget + 1) // 2 - len(tree.tokens)])
        width = (budget - len(tree.tokens)) // LEVELS
        while len(self._window) < width:
            self._window.append([context[-1 - len(self._window) % len(context)]] * LEVELS)
        self._columns, above = [], -1
        for column in self._window[:width]:
            nodes = tree.add(column, above)
            self._columns.append(nodes)
            above = nodes[0]
        self._proposed = tuple(tree.tokens)
        return Draft(self._proposed, tuple(tree.parents), source="lookahead")

    def observe(self, verification: Verification) -> None:
        """Learn an n-gram from each column, and let the columns go on by one iteration."""
        if verification.evaluated[1:] != self._proposed:
            return
        for column, nodes in zip(self._window, self._columns, strict=False):
            ngram = (*column[1:], verification.rows[nodes[-1] + 1].argmax())
            known = self._pool.setdefault(column[0], OrderedDict())
            known.pop(ngram, None)
            known[ngram] = None
            if len(known) > GUESSES:
                known.popitem(last=False)
            column[:] = ngram

    def reset(self) -> None:
        self._window, self._columns = [], []


def make(parts: Parts) -> Decoder:
    rule = ExactMatch(parts.sampler)
    return Speculative(parts.target.model, Lookahead(), rule, parts.instrument, first=WIDEST // 2)
