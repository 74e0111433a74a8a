"""How often the screen is drawn: at most 20 times a second, and never with more than a share of one core.

Pure but for the two clocks it is given; knows nothing of what is drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable

FRAME = 0.05
"""Least seconds between two drawings."""
SHARE = 0.08
"""Of one core, that drawing may take: a costly one (a large window, a slow machine) is followed by a longer wait."""
LONGEST = 0.25
"""Most seconds a drawing waits, whatever the last one cost."""


class Pace:
    """Ask ``wait`` before a drawing, call ``drawn`` as it begins. All that the thread does until the next counts as its
    cost."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, spent: Callable[[], float] = time.thread_time
    ) -> None:
        self._now = now
        self._spent = spent
        self._drawn_at = float("-inf")
        self._spent_at = 0.0

    def wait(self) -> float:
        """Seconds until the next drawing is due; 0 when it is."""
        cost = self._spent() - self._spent_at
        interval = min(LONGEST, max(FRAME, cost / SHARE))
        return max(0.0, self._drawn_at + interval - self._now())

    def drawn(self) -> None:
        """A drawing begins now."""
        self._drawn_at, self._spent_at = self._now(), self._spent()
