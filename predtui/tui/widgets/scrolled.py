"""Panes of more lines than rows: what of them is in view, and the bar that tells. Knows nothing of any one pane."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.scrollbar import ScrollBar, ScrollDown, ScrollTo, ScrollUp

from predtui.state.turn import Turn
from predtui.tui.actions import scrolling
from predtui.tui.widgets.pane import Pane, Values

WHEEL = 2
"""Lines that a notch of the wheel scrolls."""


class ScrolledPane(Pane[Values]):
    """A pane of lines that scrolls with the arrow and page keys, the wheel and its bar. The bar stands in the column
    that every pane keeps free at its right, so that no line is broken elsewhere when it comes."""

    FROM_END: ClassVar[bool] = True
    """Whether it begins with its last lines in view, or with its first."""
    back: int = 0
    """Lines scrolled back from there."""

    def __init__(self, turn: Turn, *, name: str | None = None) -> None:
        super().__init__(turn, name=name)
        self._bar = ScrollBar(vertical=True)
        self._bar_place = (0, 0)
        self._first, self._rows = 0, 0
        self._above: Sequence[Content] = ()
        self._all: Sequence[Content] = ()
        self._below: Sequence[Content] = ()

    def compose(self) -> ComposeResult:
        yield self._bar

    def keys(self) -> list[Binding]:
        return [*super().keys(), *scrolling()]

    @property
    def room(self) -> Size:
        width, height = self.content_size
        return Size(max(0, width - 1), height)

    # --- what is in view ---------------------------------------------------------------------------------------------

    def in_view(
        self,
        lines: Sequence[Content],
        width: int,
        height: int,
        above: Sequence[Content] = (),
        below: Sequence[Content] = (),
    ) -> list[Content]:
        """Those of ``lines`` that are in view between ``above`` and ``below``, which do not scroll."""
        rows = max(0, height - len(above) - len(below))
        self.hold(len(lines), width, rows)
        self._above, self._all, self._below, self._rows = above, lines, below, rows
        self._first = max(0, len(lines) - self.back - rows) if self.FROM_END else self.back
        return [*above, *lines[self._first : self._first + rows], *below]

    def hold(self, count: int, width: int, rows: int) -> None:
        """Keeps within the lines, now that there are ``count`` of them in so many ``rows``."""
        self.back = max(0, min(self.back, count - rows))

    def document(self) -> list[Content]:
        return [*self._above, *self._all, *self._below]

    def place_of(self, y: int) -> int:
        above, hidden = len(self._above), max(0, len(self._all) - self._rows)
        return y if y < above else y + self._first if y < above + self._rows else y + hidden

    def reveal(self, y: int) -> None:
        row = y - len(self._above)
        if 0 <= row < len(self._all) and not self._first <= row < self._first + self._rows:
            self._put(row - self._rows // 2)

    def _put(self, first: int) -> None:
        """Line ``first`` on the first row, where that can be."""
        hidden = max(0, len(self._all) - self._rows)
        first = max(0, min(hidden, first))
        self.back = hidden - first if self.FROM_END else first

    def _drawn(self) -> list[Content]:
        lines = super()._drawn()
        self._show_bar()
        return lines

    def _show_bar(self) -> None:
        """Beside the lines that scroll, where not all of them are in view."""
        bar, rows = self._bar, self._rows
        bar.display = len(self._all) > rows > 0
        if bar.display:
            if self._bar_place != (place := (len(self._above), rows)):
                self._bar_place = place
                bar.styles.offset, bar.styles.height = (0, place[0]), rows
            bar.window_virtual_size, bar.window_size, bar.position = len(self._all), rows, self._first

    def refresh_lines(self) -> None:
        super().refresh_lines()
        self.changed(self.values)

    def on_resize(self) -> None:
        self.refresh_lines()

    # --- keys and mouse ----------------------------------------------------------------------------------------------

    def action_back(self, count: int) -> None:
        self.back = max(0, self.back + (count if self.FROM_END else -count))
        self.refresh_lines()

    def action_newest(self) -> None:
        self.back = 0
        self.refresh_lines()

    def on_mouse_scroll_up(self) -> None:
        self.action_back(WHEEL)

    def on_mouse_scroll_down(self) -> None:
        self.action_back(-WHEEL)

    def on_scroll_to(self, message: ScrollTo) -> None:
        """The bar is being dragged."""
        message.stop()
        if message.y is not None:
            self._put(round(message.y))
            self.refresh_lines()

    def on_scroll_up(self, message: ScrollUp) -> None:
        """A click above the thumb: a page back."""
        message.stop()
        self.action_back(self._rows)

    def on_scroll_down(self, message: ScrollDown) -> None:
        message.stop()
        self.action_back(-self._rows)


class TailPane(ScrolledPane[Values]):
    """One that shows the newest lines. Scrolled back, what is in view stays there while lines are added, and the title
    counts the newer ones."""

    _drawn_before = (0, 0)
    """Width, and number of lines at it."""

    @abstractmethod
    def lines(self, values: Values, width: int) -> list[Content]:
        """All lines, oldest first, each within the width; newest first where it begins with its first."""

    def draw(self, values: Values, width: int, height: int) -> list[Content]:
        return self.in_view(self.lines(values, width), width, height)

    def hold(self, count: int, width: int, rows: int) -> None:
        before, self._drawn_before = self._drawn_before, (width, count)
        if self.back and before[0] == width:
            self.back += count - before[1]
        super().hold(count, width, rows)

    def place(self) -> tuple[str | tuple[str, str], ...]:
        return (" · ", (f"{self.back} newer line{'s' * (self.back != 1)}", "$accent")) if self.back else ()

    def on_click(self, event: Click) -> None:
        """On the title, which says how many lines are newer: to the newest."""
        if self.back and event.y == 0 and event.get_content_offset(self) is None:
            self.action_newest()
