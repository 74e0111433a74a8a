"""Selecting text with the mouse: within the pane in which it was begun, whatever the mouse passes over.

Must not know what a pane shows.
"""

from __future__ import annotations

from textual.geometry import Offset, clamp
from textual.screen import Screen
from textual.widget import Widget

from predtui.tui.widgets.pane import Drawn


class SelectingScreen(Screen[None]):
    """Textual's own selection goes on from one widget into the next."""

    def get_widget_and_offset_at(self, x: int, y: int) -> tuple[Widget | None, Offset | None]:
        begun = self._select_state.start.content_widget if self._selecting and self._select_state else None
        widget = begun if isinstance(begun, Drawn) else self._at(x, y)
        if not isinstance(widget, Drawn) or not (region := widget.content_region):
            return super().get_widget_and_offset_at(x, y)
        x, y = clamp(x, region.x, region.right - 1), clamp(y, region.y, region.bottom - 1)
        return widget, widget.offset_at(x - region.x, y - region.y)

    def _at(self, x: int, y: int) -> Widget | None:
        return self.get_widget_at(x, y)[0] if self.region.contains(x, y) else None
