"""A cache of constant size over a model's own weights: the first tokens of a context, and its latest (StreamingLLM).

The first tokens gather attention wherever they are (attention sinks), so they stay; of the others the oldest go, some
at a time. Logits are those of a model that has forgotten what went. Must not know of engines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from predtui.llm.abilities import Abilities
from predtui.llm.base import (
    Counters,
    LanguageModel,
    Preempted,
    Stale,
    check_request,
    check_vocabulary,
    common_prefix,
    never,
)
from predtui.llm.pace import MOST
from predtui.llm.rows import ArrayRows, Logits, Rows

SINKS = 4
"""Tokens at the beginning that stay, as in the paper."""
CELLS = 512
"""Tokens that a cache holds."""


class Cells(Protocol):
    """An engine's cache of a fixed number of tokens."""

    @property
    def bytes(self) -> int:
        """What the keys and values that it holds take."""
        ...

    def cut(self, keep: int) -> None:
        """Forget all but the first ``keep`` tokens held."""
        ...

    def drop(self, start: int, count: int) -> None:
        """Forget ``count`` tokens from the ``start``-th held one on, none of them the last."""
        ...

    def evaluate(self, tokens: Sequence[int], positions: Sequence[int], rows: int) -> Logits:
        """Logits after the last ``rows`` of ``tokens``, 0 for none, which follow those held; ``positions``: theirs in
        the whole context. At most ``MOST`` at once."""
        ...


class WindowModel(LanguageModel, Protocol):
    """A model whose engine opens other caches over its weights."""

    def window_bytes(self, cells: int = CELLS) -> int:
        """What one of so many tokens takes, about."""
        ...

    def window(self, cells: int = CELLS) -> LanguageModel:
        """A ``Window`` of so many tokens, for use in turn with the model, which closes it. Raises PredtuiError where
        there can be none."""
        ...


class Window:
    """A ``LanguageModel`` that takes contexts as long as its owner's, and evaluates and keeps no more of one than its
    cells hold."""

    def __init__(self, owner: LanguageModel, cells: Cells, size: int, stale: Stale = never) -> None:
        """``size``: tokens that ``cells`` hold. Raises ValueError where that is too few for a window to move in."""
        if size < 8 * SINKS:
            raise ValueError(f"a window of {size} tokens; at least {8 * SINKS}")
        self.counters = Counters()
        self.cells = cells
        self._owner, self._size, self._stale = owner, size, stale
        self._held: list[int] = []
        self._start = SINKS
        """Where in the context the latest tokens begin, which are all beyond the first ``SINKS``."""

    @property
    def vocab_size(self) -> int:
        return self._owner.vocab_size

    @property
    def context_size(self) -> int:
        return self._owner.context_size

    @property
    def abilities(self) -> Abilities:
        return Abilities.of_logits(self.vocab_size)

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        """As ``LanguageModel.forward`` for a ``last`` of at most half the window."""
        check_request(tokens, last, self.context_size)
        if last > self._size // 2:
            raise ValueError(f"last={last} of a window of {self._size} tokens")
        self._move(tokens)
        seen = [*tokens[:SINKS], *tokens[self._start :]]
        check_vocabulary(seen, self.vocab_size)
        self._cut(min(common_prefix(self._held, seen), len(seen) - last))
        self.counters.forwards += 1
        places = [*range(SINKS), *range(self._start, len(tokens))]
        return ArrayRows(np.concatenate(self._evaluated(seen, places, last)))

    def forget(self, keep: int = 0) -> None:
        self._cut(min(keep, SINKS) if self._start > SINKS else keep)

    def close(self) -> None:
        """The owner closes it."""

    def _evaluated(self, seen: list[int], places: Sequence[int], last: int) -> list[Logits]:
        """Rows after the last ``last`` tokens that are seen, of which those held are not evaluated again. Raises
        Preempted."""
        parts: list[Logits] = []
        first = len(self._held)
        while (start := len(self._held)) < len(seen):
            if start > first and self._stale():
                raise Preempted
            end = min(start + MOST, len(seen))
            rows = min(end - start, max(0, end - (len(seen) - last)))
            logits = self.cells.evaluate(seen[start:end], places[start:end], rows)
            self._held += seen[start:end]
            self.counters.tokens += end - start
            if rows:
                parts.append(logits)
        return parts

    def _move(self, tokens: Sequence[int]) -> None:
        """Have the window begin where it ends with ``tokens``: where it does already, as long as that leaves it no
        less than half full."""
        seen = len(tokens) - self._start
        if SINKS + seen <= self._size and (self._start == SINKS or seen >= self._size // 2):
            return
        start = max(SINKS, len(tokens) - (self._size - SINKS) * 3 // 4) if len(tokens) > self._size else SINKS
        shared = common_prefix(self._held, [*tokens[:SINKS], *tokens[self._start : self._start + self._size]])
        dropped = start - self._start
        if dropped > 0 and shared > SINKS + dropped:
            self._cut(shared)
            self.cells.drop(SINKS, dropped)
            del self._held[SINKS : SINKS + dropped]
        else:
            self._cut(min(shared, SINKS))
        self._start = start

    def _cut(self, keep: int) -> None:
        if keep < len(self._held):
            self.cells.cut(keep)
            del self._held[keep:]
