"""Strings as a hostile model, file or server would say them, and what of them must never reach a terminal.

The judge knows characters by their Unicode properties, not by the lists of the gate that it judges.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterator

COMMANDS = (
    "\x1b]0;owned\x07", "\x1b]8;;http://owned\x1b\\link\x1b]8;;\x1b\\", "\x1b]52;c;b3duZWQ=\x07", "\x1b[2J", "\x1b[H",
    "\x1bP$q\"p\x1b\\", "\x1b[?1049l", "\x1bc", "\x1b_G\x1b\\", "\x9b2J", "\x9d0;owned\x9c", "\x90q\x9c", "\x00",
    "\x07", "\x08\x08", "\r", "\x0b", "\x0c", "\x7f", "\x85",
)  # fmt: skip
DISORDER = (
    *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u2028\u2029",
    "\U000e0001\U000e0041\U000e007f", "\ud800", "\udc9b", "Z" + "\u0301\u0489" * 40, "\u200d" * 50, "\ufe0f" * 50,
)  # fmt: skip
MARKUP = ("[/]", "[link=a:b", "[link=a:b]", "[bold]", "[@click=app.quit]x[/]", "[", "]", "\\[", "[$error]", ":smile:")
HARMLESS = (
    "hello ",
    "Paris.",
    "日本",
    "👩\u200d👩\u200d👧",
    "❤\ufe0f",
    "हिन्दी",
    "ক্‍ষ",
    "می\u200cخواهم",
    "x\ty",
    "a\nb",
    "é",
)
EVERYTHING = (*COMMANDS, *DISORDER, *MARKUP, *HARMLESS)
BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
OWN = re.compile(r"\x1b\[[\d;]*[mH]")
"""Colours and places: all that a frame of the screen consists of besides text."""


def strings(count: int, seed: int = 0) -> Iterator[str]:
    """``count`` strings of two to five pieces, most of them hostile."""
    rng = random.Random(seed)
    for _ in range(count):
        yield "".join(rng.choices(EVERYTHING, k=rng.randint(2, 5)))


def forbidden(text: str) -> list[str]:
    """The characters of ``text`` that command a terminal, or change the order or the lines of its text."""
    return [c for c in text if _commands(c)]


def marks(text: str) -> int:
    """How many characters without a width of their own stand on one that has, at most."""
    most = run = 0
    for character in text:
        run = run + 1 if unicodedata.category(character) in ("Mn", "Me", "Mc", "Cf") else 0
        most = max(most, run)
    return most


def _commands(c: str) -> bool:
    return (
        unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs")
        or unicodedata.bidirectional(c) in BIDI
        or c in "\u200e\u200f\u061c"
        or 0xE0000 <= ord(c) < 0xE0100
    )
