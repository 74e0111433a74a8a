"""The gate of the screen: the one maker of what is drawn, and a filter that no line passes by. Knows no widget."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.content import Content
from textual.filter import LineFilter

from predtui.foreign import harmless, printable

Part = str | Content | tuple[str, str]
"""Text, or text with its style."""


def assemble(*parts: Part) -> Content:
    """The parts as text, never as markup: no bracket means anything, lines and tabs stay, and nothing of it commands a
    terminal. Textual's own ``Content.assemble`` breaks over some control characters."""
    return Content.assemble(*map(_lined, parts))


def _lined(part: Part) -> Part:
    if isinstance(part, Content):
        return part
    text, *style = (part,) if isinstance(part, str) else part
    if not (text.isascii() and text.isprintable()):
        lines = text.replace("\r\n", "\n").split("\n")
        text = "\n".join("\t".join(map(printable, line.split("\t"))) for line in lines)
    return (text, *style) if style else text  # type: ignore[return-value]


class Gate(LineFilter):
    """Textual asks its filters about every line of every widget, title and border, whoever made it: what is forgotten
    elsewhere is caught here. Each segment stays as wide as it was."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [_gated(segment) for segment in segments]


def _gated(segment: Segment) -> Segment:
    text = harmless(segment.text)
    if text == segment.text:
        return segment
    width = segment.cell_length
    return Segment(text if cell_len(text) == width else set_cell_size(text, width), segment.style, segment.control)
