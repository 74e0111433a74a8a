"""Where words stand in the lines of a pane. Must not know what a pane shows."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from textual.content import Content

from predtui.tui.wrapping import Continued


class Span(NamedTuple):
    """Characters ``start`` to ``end`` of line ``y``."""

    y: int
    start: int
    end: int


Hit = tuple[Span, ...]
"""Where the words stand once: on one line, or on several where they are broken into those."""


class Found(NamedTuple):
    """``now``: which hit one is at, from 0."""

    words: str = ""
    hits: tuple[Hit, ...] = ()
    now: int = 0

    def told(self) -> str:
        """How many there are."""
        if not self.words:
            return ""
        return f"{self.now + 1} of {len(self.hits)}" if self.hits else "not found"

    def on(self, y: int) -> list[tuple[Span, bool]]:
        """What there is of hits on line ``y``, and whether it is the one that one is at."""
        return [(span, at == self.now) for at, hit in enumerate(self.hits) for span in hit if span.y == y]


def hits(lines: Sequence[Content], words: str) -> tuple[Hit, ...]:
    """Where ``words`` stand in ``lines``, in which what was wrapped is one line. Small letters find great ones, too."""
    if not words:
        return ()
    text, starts, indents = "", list[int](), list[int]()
    for line in lines:
        indent, glue = (line.indent, line.glue) if isinstance(line, Continued) else (0, "\n")
        text += glue if starts else ""
        starts.append(len(text))
        indents.append(indent)
        text += line.plain[indent:]
    case = re.NOFLAG if any(map(str.isupper, words)) else re.IGNORECASE
    found = (match.span() for match in re.finditer(re.escape(words), text, case))
    return tuple(_spans(start, end, starts, indents) for start, end in found)


def _spans(start: int, end: int, starts: Sequence[int], indents: Sequence[int]) -> Hit:
    first, last = bisect_right(starts, start) - 1, bisect_left(starts, end) - 1
    ends = [*starts[1:], end]
    spans = (
        Span(y, max(start, starts[y]) - starts[y] + indents[y], min(end, ends[y]) - starts[y] + indents[y])
        for y in range(first, last + 1)
    )
    return tuple(span for span in spans if span.end > span.start)
