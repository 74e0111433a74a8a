"""Foreign text, made fit to be shown: what a model, a recording, a file or a library says commands no terminal.

Two gates use this, and everything passes one of them: ``tui.gate`` for the lines of the screen, ``Gated`` for standard
output and standard error. Must not know what the text is about.
"""

from __future__ import annotations

import re
from typing import Any, TextIO, cast
from unicodedata import category

MOST_MARKS = 8
"""Combining characters, joiners and variation selectors in a row: no script needs more on one letter."""
_JOINERS = "\u200c\u200d"
_BREAKS = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)
"""Characters that command a terminal, line ends included."""
_UNSEEN = (
    *(0x61C, 0x200B, 0x200E, 0x200F, 0xFEFF), *range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0100),
)  # fmt: skip
"""Marks that turn the direction of text, tags, and other characters that nobody sees."""
_REMOVED: dict[int, str | None] = dict.fromkeys((*_BREAKS, *_UNSEEN)) | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_SPACED = _REMOVED | dict.fromkeys(_BREAKS, " ")
_TYPED = {code: shown for code, shown in _SPACED.items() if shown}
_OURS = re.compile(r"(\x1b\[[\d;]*m|[\n\t])")
"""What a stream takes besides text: line ends, tabs and the colours that consoles print."""


def printable(text: str) -> str:
    """``text`` as one line: a space for each line end and control character, without marks that turn the direction of
    text, and with so many combining characters as scripts need."""
    return text if text.isascii() and text.isprintable() else _bounded(text.translate(_SPACED))


def harmless(text: str) -> str:
    """As ``printable``, but nothing stands for a control character, which has no width on a screen either."""
    return text if text.isascii() and text.isprintable() else _bounded(text.translate(_REMOVED))


def without_controls(text: str) -> str:
    """What a person has typed or pasted, as one line; its direction is theirs to choose."""
    return text.translate(_TYPED)


def lines_without_controls(text: str) -> str:
    """The same as the lines that it is."""
    return "\n".join(map(without_controls, text.split("\n")))


class Gated:
    """A text stream that takes lines, tabs, colours and harmless text, and is otherwise the stream it stands for."""

    def __init__(self, stream: TextIO) -> None:
        self.ungated = stream

    def write(self, text: str) -> int:
        pieces = _OURS.split(text)
        pieces[::2] = map(printable, pieces[::2])
        self.ungated.write("".join(pieces))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ungated, name)


def gated(stream: TextIO) -> TextIO:
    """``stream`` behind the gate."""
    return cast(TextIO, Gated(stream))


def ungated(stream: TextIO) -> TextIO:
    """For those who move the cursor. Foreign text is theirs to make ``printable``."""
    return getattr(stream, "ungated", stream)


def _bounded(text: str) -> str:
    if text.isascii():
        return text
    kept, run = [], 0
    for character in text:
        run = run + 1 if character in _JOINERS or category(character)[0] == "M" else 0
        if run <= MOST_MARKS:
            kept.append(character)
    return "".join(kept)
