"""What a word is in running text: between spaces, and in scripts without spaces a character with the marks on it.

Must not know of sentences, of languages, or of what is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import category

UNSPACED = (
    "\u0e01-\u0e5b\u0e81-\u0edf\u0f40-\u0fbc\u1000-\u1049\u104c-\u109f\u1780-\u17d3\u17d7-\u17e9"
    "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
"""Ranges, as in a regular expression, of scripts without spaces: Thai, Lao, Tibetan, Burmese, Khmer, kana and Han."""
_WIDE_MARKS = "\u3001-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
"""Punctuation that stands without a space on either side."""


def _ranges(*classes: str) -> tuple[tuple[str, str], ...]:
    both = "".join(classes)
    return tuple((both[at], both[at + 2]) for at in range(0, len(both), 3))


_LETTERS = _ranges(UNSPACED)
_TIGHT = _ranges(UNSPACED, _WIDE_MARKS)


def unspaced(character: str) -> bool:
    """Whether a character, or none, is of a script without spaces between words."""
    return _within(character, _LETTERS)


def begins_word(text: str, at: int) -> bool:
    """Whether a word of ``text`` begins at the index ``at``, where there is a character."""
    character, before = text[at], text[at - 1 : at] if at else ""
    if character.isspace():
        return False
    if not before or before.isspace():
        return True
    if category(character)[0] == "M":
        return False
    return unspaced(character) or (character.isalnum() and _within(before, _TIGHT))


def last_word(text: str) -> int:
    """The index at which the last word of ``text`` begins; 0 where there is none."""
    return next((at for at in range(len(text) - 1, -1, -1) if begins_word(text, at)), 0)


def begun_by(text: str, share: float) -> str:
    """``text`` up to the end of the word that stands at this share of it, 0..1."""
    at = int(share * len(text))
    return text[: next((end for end in range(at + 1, len(text)) if begins_word(text, end)), len(text))].rstrip()


def count(text: str) -> int:
    """How many words there are."""
    return sum(1 if part.isascii() else sum(begins_word(part, at) for at in range(len(part))) for part in text.split())


def glued(left: str, right: str) -> bool:
    """Whether no space is to be set between two texts, neither of which is empty."""
    before, after = left[-1], right[0]
    return before.isspace() or after.isspace() or _within(before, _TIGHT) or _within(after, _TIGHT)


def joined(parts: Iterable[str]) -> str:
    """Words, or texts of several, as one text."""
    pieces: list[str] = []
    for part in parts:
        if part:
            pieces += [part] if not pieces or glued(pieces[-1], part) else [" ", part]
    return "".join(pieces)


def tidy(text: str) -> str:
    """``text`` with one space between words; its line ends, and what its lines begin with, stay within it."""
    if "\n" not in text:
        return " ".join(text.split())
    lines = ((line, " ".join(line.split())) for line in text.split("\n"))
    return "\n".join(line[: len(line) - len(line.lstrip())] + words if words else "" for line, words in lines).strip()


def gap(space: str) -> str:
    """The ``space`` between two words as ``tidy`` leaves it."""
    return "\n" * space.count("\n") + space[space.rfind("\n") + 1 :] if "\n" in space else " " if space else ""


def _within(character: str, ranges: tuple[tuple[str, str], ...]) -> bool:
    return character > "\u0e00" and any(first <= character <= last for first, last in ranges)
