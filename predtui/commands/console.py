"""The console of tables, colours and progress bars. Imports rich, and nothing that is heavier."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from predtui.foreign import harmless, ungated


class _Console(Console):
    """It alone writes past the gate, because it moves the cursor; so its text passes one of its own."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=_lines(segment.text))


def _lines(text: str) -> str:
    return "\n".join(map(harmless, text.split("\n")))


def console(width: int | None = None) -> Console:
    """On standard output. No text given to it is markup: styles come with ``rich.text.Text``."""
    return _Console(file=ungated(sys.stdout), markup=False, emoji=False, highlight=False, width=width)
