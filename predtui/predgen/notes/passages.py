"""Text cut into passages: a paragraph or a few short ones, each under its heading. Must not know of files or search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from predtui.foreign import harmless, printable

LONGEST = 600
"""Characters of a passage: some 150 tokens."""
_BLANK = re.compile(r"\n[ \t]*\n+")
_HEADING = re.compile(r"#{1,6}[ \t]+(.*)")


@dataclass(frozen=True, slots=True)
class Passage:
    """``text``, one line that commands no terminal, is the ``place``-th passage of the note called ``note``."""

    note: str
    place: int
    text: str


def passages(note: str, text: str) -> list[Passage]:
    """Those of ``text``, in its order."""
    return [Passage(note, place, one) for place, one in enumerate(_joined(text))]


def _joined(text: str) -> Iterator[str]:
    """Neighbours under one heading together, as far as they fit."""
    heading, gathered = "", ""
    for above, part in _parts(text):
        if gathered and (above != heading or len(gathered) + len(part) >= LONGEST):
            yield gathered
            gathered = ""
        heading = above
        gathered = f"{gathered} {part}" if gathered else f"{above}: {part}" if above else part
    if gathered:
        yield gathered


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Paragraphs of at most ``LONGEST`` characters, each with the heading that it stands under."""
    heading = ""
    for block in _BLANK.split(text.replace("\r\n", "\n").replace("\r", "\n")):
        lines: list[str] = []
        for line in block.splitlines():
            if found := _HEADING.fullmatch(line.strip()):
                yield from ((heading, piece) for piece in _pieces(lines))
                heading, lines = _plain(found[1])[: LONGEST // 4], []
            else:
                lines.append(line)
        yield from ((heading, piece) for piece in _pieces(lines))


def _pieces(lines: list[str]) -> Iterator[str]:
    """One paragraph, cut between words where it is too long, or within one that is."""
    rest = _plain(" ".join(lines))
    while len(rest) > LONGEST:
        end = rest.rfind(" ", LONGEST // 2, LONGEST)
        end = end if end > 0 else LONGEST
        yield rest[:end].rstrip()
        rest = rest[end:].lstrip()
    if rest:
        yield rest


def _plain(text: str) -> str:
    return " ".join(harmless(printable(text)).split())
