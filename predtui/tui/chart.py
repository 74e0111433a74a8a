"""Spans of work drawn as rows of block characters over an axis in seconds. Pure; knows nothing of widgets."""

from __future__ import annotations

from collections.abc import Sequence

from predtui.state.turn import Span, Turn
from predtui.tui import figures

CELL = 0.1
"""Seconds that one cell of the timeline stands for."""


def latest_moment(turn: Turn) -> float:
    """Seconds of the newest thing known of the turn: the screen's "now", so that a replay shows what was seen live."""
    marks = turn.marks
    stamps = [turn.started, turn.transcript.time, turn.candidate.time, turn.ticked, turn.usage.time]
    stamps += [moment for moment in (marks.endpoint, marks.final, marks.committed, marks.audible) if moment is not None]
    stamps += [spans[-1].end for spans in turn.spans.values() if spans]
    return max(stamps)


def shares(spans: Sequence[Span], start: float, cells: int, cell: float = CELL) -> list[float]:
    """How much of each cell, 0..1, the spans cover; the first cell begins at ``start``."""
    covered = [0.0] * cells
    end = start + cells * cell
    for span in spans:
        begin, finish = span.start, span.end
        if finish <= start or begin >= end:
            continue
        first = max(0, int((begin - start) / cell))
        last = min(cells - 1, int((finish - start) / cell))
        for index in range(first, last + 1):
            left = start + index * cell
            covered[index] += max(0.0, min(finish, left + cell) - max(begin, left)) / cell
    return [min(1.0, share) for share in covered]


def bars(spans: Sequence[Span], start: float, cells: int, cell: float = CELL) -> str:
    """One row. The height of a bar is the busy share of its cell."""
    return "".join(figures.bar(share) if share else " " for share in shares(spans, start, cells, cell))


def axis(start: float, origin: float, cells: int, taken: range = range(0), cell: float = CELL) -> str:
    """Ticks at whole seconds since ``origin``, labelled ``2 s`` where a label fits uncut and outside ``taken``."""
    line = ["─"] * cells
    second = max(0, int(start - origin))
    while (column := round((origin + second - start) / cell)) < cells:
        label = f"{second} s"
        if column >= 0 and not set(range(column, column + 1 + len(label))) & set(taken):
            line[column] = "┴"
            if column + 1 + len(label) <= cells:
                line[column + 1 : column + 1 + len(label)] = label
        second += 1
    return "".join(line)


def column_of(moment: float, start: float, cells: int, cell: float = CELL) -> int | None:
    """The cell a moment falls in; None outside."""
    column = int((moment - start) / cell) if moment >= start else -1
    return column if 0 <= column < cells else None


def window(latest: float, origin: float, cells: int, cell: float = CELL) -> float:
    """Where the axis begins: at the origin, until the latest moment no longer fits; then it scrolls by whole cells."""
    beyond = int((latest - origin) / cell) + 1 - cells
    return origin + max(0, beyond) * cell
