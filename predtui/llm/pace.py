"""How a long prompt is cut into pieces: as many tokens as take a moment, by what the last ones took.

A piece can be lost when it is halted, and between two of them an engine looks whether its work is stale. Must not know
of engines.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

MOMENT_S = 0.2
"""Seconds that a piece may take."""
LEAST, MOST = 64, 256
"""Tokens of the smallest piece, since fewer cost more each (a sixth at 32, of half a billion weights in 8 bits), and of
the largest."""


class Pace:
    """Tokens of the next piece, out of the seconds that those before took."""

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self.size = LEAST
        """Tokens that take a moment, a multiple of ``LEAST``; the least while nothing was measured."""

    def pieces(self, start: int, first_row: int, end: int) -> Iterator[tuple[int, int]]:
        """Begin and end of each piece of the tokens from ``start`` to ``end``. Each is taken to be evaluated when the
        next is asked for. From where no more than a piece is left before ``first_row``, all goes together, as far as
        ``MOST``: a verification is not cut."""
        while start < end:
            size = self.size if first_row - start > self.size else MOST
            stop, began = min(start + size, end), self._now()
            yield start, stop
            self._took(stop - start, self._now() - began)
            start = stop

    def _took(self, tokens: int, seconds: float) -> None:
        """Fewer tokens than the least say little of many."""
        if tokens >= LEAST:
            fitting = tokens * MOMENT_S / max(seconds, 1e-9)
            self.size = int(min(max(fitting // LEAST * LEAST, LEAST), MOST))
