"""Lays the panes of the main screen out as a person has chosen: classes and sizes of widgets. Must not know what a pane
shows, nor how a choice is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from textual.screen import Screen
from textual.widget import Widget

from predtui.tui.layout import Layout
from predtui.tui.widgets.pane import Pane

COLUMNS = ("said", "guessed", "measured")
LINES = 5
"""Rows that the lines above and below the panes may need, besides what is typed."""

NARROWEST = 16
"""Columns that a column of panes needs."""


class Stack(NamedTuple):
    """Widgets that share a height or a width, in their order: all of them that are shown."""

    widgets: tuple[Widget, ...]
    vertical: bool

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(widget.region.height if self.vertical else widget.region.width for widget in self.widgets)


def name_of(widget: Widget) -> str:
    """As ``Layout`` calls it."""
    return widget.TOPIC if isinstance(widget, Pane) else str(widget.id)


def arrange(screen: Screen[Any], layout: Layout) -> None:
    """Every pane and column shown or not, and as large as was chosen, where the window has room for that."""
    screen.set_class(bool(layout.zoomed), "-zoomed")
    for pane in _panes(screen):
        pane.set_class(not layout.shows(pane.TOPIC), "-hidden")
        pane.set_class(layout.zoomed == pane.TOPIC, "-zoomed")
        pane.figured = layout.figured
    columns = [screen.query_one(f"#{name}") for name in COLUMNS]
    for column in columns:
        hidden = [pane.has_class("-hidden") for pane in column.children]
        column.set_class(all(hidden), "-empty")
        column.set_class(bool(layout.zoomed) and not all(hidden), "-zoomed")
        _fill(column, any(hidden))
    panes = screen.query_one("#panes")
    panes.set_class(all(column.has_class("-empty") for column in columns), "-empty")
    columns[1].set_class(columns[0].has_class("-empty"), "-alone")
    _size(screen, layout)


def _panes(screen: Screen[Any]) -> list[Pane[Any]]:
    return [widget for widget in screen.query("Pane") if isinstance(widget, Pane)]


def _fill(column: Widget, incomplete: bool) -> None:
    """Where panes are missing, the last one that is left takes their room."""
    left = [pane for pane in column.children if not pane.has_class("-hidden")]
    for pane in column.children:
        pane.set_class(incomplete and pane in left[-1:], "-filling")


def stacks(screen: Screen[Any]) -> Iterator[Stack]:
    """All whose borders can be moved. None in one column, where there is no room to share, or while one pane is
    zoomed."""
    if screen.has_class("-narrow") or screen.has_class("-zoomed"):
        return
    panes = screen.query_one("#panes")
    columns = _shown(panes.children)
    for column in columns:
        yield Stack(_shown(column.children), True)
    yield Stack(columns, False)
    below = [pane for pane in screen.children if isinstance(pane, Pane)]
    yield Stack(_shown([panes, *below]), True)


def _shown(widgets: Iterable[Widget]) -> tuple[Widget, ...]:
    return tuple(widget for widget in widgets if widget.display and not widget.has_class("-empty"))


def _size(screen: Screen[Any], layout: Layout) -> None:
    for widget in screen.query(f"Pane, #panes, {', '.join(f'#{name}' for name in COLUMNS)}"):
        for rule in ("height", "min_height", "max_height", "width", "min_width"):
            widget.styles.clear_rule(rule)
    found = list(stacks(screen))
    if not layout.sizes or not found or not _roomy(screen, found):
        return
    for stack in found:
        named = [layout.sizes[name_of(widget)] for widget in stack.widgets if name_of(widget) in layout.sizes]
        for widget in stack.widgets if named else ():
            share = layout.sizes.get(name_of(widget), sum(named) // len(named))
            if stack.vertical:
                widget.styles.height, widget.styles.max_height = f"{share}fr", "100%"
                widget.styles.min_height = _least(screen, widget)
            else:
                widget.styles.width, widget.styles.min_width = f"{share}fr", NARROWEST


def _least(screen: Screen[Any], widget: Widget) -> int:
    """Rows that a widget needs: a pane, its title or frame and a line; all columns, those of the fullest."""
    pane = 3 if framed(screen) else 2
    if isinstance(widget, Pane):
        return pane
    return pane * max((len(_shown(column.children)) for column in _shown(widget.children)), default=1)


def framed(screen: Screen[Any]) -> bool:
    """Whether a frame is all around each pane."""
    size = screen.size
    return size.width >= 100 and size.height >= 30


def _roomy(screen: Screen[Any], found: Sequence[Stack]) -> bool:
    """Whether sizes of one's own leave each pane, and the input line, the rows that they need."""
    rows = screen.size.height
    return sum(_least(screen, widget) for widget in found[-1].widgets) <= rows - max(2, rows // 5) - LINES


def moved(stack: Stack, before: Sequence[int], upper: int, by: int, least: Sequence[int]) -> dict[str, int]:
    """The sizes of a stack once the border below, or right of, its widget number ``upper`` has moved; neither gets
    smaller than its ``least``."""
    sizes = list(before)
    most = (sizes[upper] - least[upper], sizes[upper + 1] - least[upper + 1])
    by = max(-max(0, most[0]), min(max(0, most[1]), by))
    sizes[upper] += by
    sizes[upper + 1] -= by
    return {name_of(widget): size for widget, size in zip(stack.widgets, sizes, strict=True)}


def grown(screen: Screen[Any], layout: Layout, pane: Pane[Any], vertical: bool, by: int) -> Layout:
    """The pane larger or smaller, on account of the next, or of the one before where it is the last."""
    around = list(pane.ancestors_with_self)
    for stack in stacks(screen):
        at = next((at for at, widget in enumerate(stack.widgets) if widget in around), None)
        if at is not None and stack.vertical == vertical and len(stack.widgets) > 1:
            last = at == len(stack.widgets) - 1
            return layout.sized(moved(stack, stack.sizes, at - last, -by if last else by, _floor(screen, stack)))
    return layout


def _floor(screen: Screen[Any], stack: Stack) -> list[int]:
    return [_least(screen, widget) if stack.vertical else NARROWEST for widget in stack.widgets]


class Border(NamedTuple):
    """That below, or right of, a widget of a stack; where it was at first, and the sizes then."""

    stack: Stack
    upper: int
    at: int
    sizes: tuple[int, ...]


def border_at(screen: Screen[Any], x: int, y: int) -> Border | None:
    """The one that is drawn there, if any."""
    for stack in stacks(screen):
        for upper, widget in enumerate(stack.widgets[1:]):
            region = widget.region
            if (stack.vertical and y == region.y and region.x <= x < region.right) or (
                not stack.vertical and x == region.x and region.y <= y < region.bottom
            ):
                return Border(stack, upper, y if stack.vertical else x, stack.sizes)
    return None


def dragged(screen: Screen[Any], layout: Layout, border: Border, x: int, y: int) -> Layout:
    """The border moved to where the mouse is."""
    stack = border.stack
    by = (y if stack.vertical else x) - border.at
    return layout.sized(moved(stack, border.sizes, border.upper, by, _floor(screen, stack)))
