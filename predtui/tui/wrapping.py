"""Text in lines as wide as a pane, and the text again out of a selection of them. Knows no widget."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content
from textual.selection import Selection

from predtui.tui.gate import assemble


class Continued(Content):
    """A line that goes on with the one before it. ``glue``: what stood between the two where the text was broken;
    ``indent``: characters of it that are no part of the text."""

    __slots__ = ["glue", "indent"]

    def __init__(self, line: Content, glue: str, indent: int) -> None:
        super().__init__(line.plain, list(line.spans))
        self.glue, self.indent = glue, indent


def wrapped(text: Content, width: int, indent: int = 0) -> list[Content]:
    """``text`` in lines of at most ``width`` cells, all but the first of which follow ``indent`` blanks."""
    whole, end = text.plain, 0
    lines: list[Content] = []
    for line in text.wrap(max(1, width - indent)):
        start = whole.find(line.plain, end)
        glue, end = (whole[end:start], start + len(line.plain)) if start >= 0 else (" ", end)
        lines.append(Continued(assemble(" " * indent) + line, glue, indent) if lines else line)
    return lines


def extracted(lines: Iterable[Content], selection: Selection) -> str:
    """What is selected of ``lines``, in which what was wrapped is one line again."""
    parts: list[str] = []
    for y, line in enumerate(lines):
        if (span := selection.get_span(y)) is not None:
            start, end = span
            indent, glue = (line.indent, line.glue) if isinstance(line, Continued) else (0, "\n")
            parts += [glue] if parts else []
            parts.append(line.plain[max(start, indent) : None if end == -1 else end])
    return "".join(parts)
