"""Draws what has changed, as often as the pace allows. Knows nothing of what is drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.app import App

from predtui.tui.pace import Pace


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
        """Harmless while the app closes, when no screen is left but calls may still come."""
        self.due = False
        self._pace.drawn()
        if self._app.screen_stack:
            self._draw()
