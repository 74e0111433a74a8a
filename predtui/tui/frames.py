"""Draws what has changed: at most 20 times a second, and never with more than a share of one core.

Knows nothing of what is drawn.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from textual.app import App

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


def call_after(app: App[None], seconds: float, call: Callable[[], None]) -> None:
    """Calls once, however late: a timer of Textual's that begins late, on a busy machine or after a suspension, takes
    its only call for missed and never makes it."""
    asyncio.get_running_loop().call_later(seconds, app.call_later, call)


class Frames:
    """However often a frame is asked for, one is drawn at a time."""

    def __init__(self, app: App[None], draw: Callable[[], None]) -> None:
        self._app = app
        self._draw = draw
        self._pace = Pace()
        self.due = False

    def request(self) -> None:
        """Something has changed."""
        if not self.due:
            self.due = True
            call_after(self._app, self._pace.wait(), self.draw)

    def draw(self) -> None:
        """Harmless while the app closes, when screens lose their widgets one by one but calls may still come."""
        self.due = False
        self._pace.drawn()
        if self._app.is_running:
            self._draw()
