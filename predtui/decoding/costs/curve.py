"""Seconds of a job by its size, out of measurements. Must not know which job it is.

A ``Curve`` is for forwards of the target, whose cost is known to jump between sizes; a ``Line`` for drafts, of which
one token costs what another does.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from itertools import accumulate

from predtui.decoding.costs.constants import DRAFT_DECAY, INSTANT, SOLID, WINDOW


class Curve:
    """Seconds of a job by its size: of each size the median of the last few measurements, or that of a larger one
    which took less, since what else a machine does makes a job slower, never faster; linear between sizes, and beyond
    the largest as steep as on the whole from the second on: two neighbours say nothing of what is far, and engines do
    a job of size 1 in another way. Sizes seen often enough speak for the others between them."""

    def __init__(self) -> None:
        self._seen: dict[int, deque[float]] = {}
        self._typical: dict[int, float] = {}
        self._sizes: list[int] = []
        self._heights: list[float] = []

    def add(self, size: int, seconds: float) -> None:
        seen = self._seen.setdefault(size, deque(maxlen=WINDOW))
        seen.append(seconds)
        self._typical[size] = sorted(seen)[len(seen) // 2]
        self._sizes = []

    def __contains__(self, size: int) -> bool:
        return size in self._seen

    def seconds(self, size: float) -> float:
        """0 while nothing was measured; proportional up to the smallest size."""
        if not self._sizes:
            self._draw()
        after = min(bisect_left(self._sizes, size), len(self._sizes) - 1)
        if after < 1:
            return self._heights[0] * min(1.0, size / self._sizes[0]) if self._sizes else 0.0
        before = after - 1 if size <= self._sizes[after] else min(1, after - 1)
        x0, x1, y0, y1 = self._sizes[before], self._sizes[after], self._heights[before], self._heights[after]
        return y0 + (y1 - y0) * (size - x0) / (x1 - x0)

    def _draw(self) -> None:
        solid = [size for size, seen in self._seen.items() if len(seen) >= SOLID]
        low, high = min(solid, default=0), max(solid, default=0)
        self._sizes = sorted(size for size in self._seen if not low < size < high or size in solid)
        falling = accumulate((self._typical[size] for size in reversed(self._sizes)), min)
        self._heights = [*falling][::-1]


class Line:
    """Seconds of a job by its size: a straight line through what was measured lately, neither falling nor steeper than
    in proportion."""

    def __init__(self) -> None:
        self._sums = [0.0] * 5

    def add(self, size: int, seconds: float) -> None:
        new = (1.0, size, seconds, size * size, size * seconds)
        self._sums = [DRAFT_DECAY * old + more for old, more in zip(self._sums, new, strict=True)]

    def seconds(self, size: float) -> float:
        """0 while nothing was measured."""
        n, x, y, xx, xy = self._sums
        if not x:
            return 0.0
        spread = n * xx - x * x
        steepest = y / x
        slope = (n * xy - x * y) / spread if spread > INSTANT * xx else steepest
        return y / n + min(max(slope, 0.0), steepest) * (size - x / n)
