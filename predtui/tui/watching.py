"""Whether anybody sees what is sampled of the machine, and tells the driver: nothing is sampled otherwise.

Must not know what a pane shows, nor how it is sampled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.screen import Screen
from textual.widget import Widget

from predtui.tui.driver import Requests
from predtui.tui.widgets.pane import Pane


class Watching:
    """Looks again whenever panes are laid out, and a page opens or closes over them. For a screen that is mounted."""

    def __init__(self, screen: Screen[Any], tell: Callable[[bool], None]) -> None:
        """``tell`` takes what is so from now on, at first and as it changes."""
        self._screen, self._tell = screen, tell
        self._seen: bool | None = None
        screen.screen_layout_refresh_signal.subscribe(screen, self._look)
        screen.app.screen_change_signal.subscribe(screen, self._look)

    def _look(self, _: object) -> None:
        seen = self._screen.is_active and any(_in_view(pane) for pane in self._screen.query("Pane"))
        if seen != self._seen:
            self._seen = seen
            self._tell(seen)


def _in_view(widget: Widget) -> bool:
    return isinstance(widget, Pane) and widget.SAMPLED and bool(widget.region.area)


def tell(driver: Requests, seen: bool) -> None:
    """A recording has its samples already."""
    if not driver.read_only:
        driver.ask(lambda asked: asked.watch(seen))
