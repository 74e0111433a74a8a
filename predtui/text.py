"""Where sentences end in running text, and how it is written in ASCII. Must not know of tokens, models or sound.

A sentence is what ends at ``.``, ``?`` or ``!`` (PredGen, appendix A.1), but not inside numbers, abbreviations,
addresses or an ellipsis. Text grows while it is read, so an end counts only once what follows it is known:
an end that was found once stays an end however the text goes on.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator

_END = re.compile(r"""(?P<mark>[.?!…]+)(?P<close>["'”’»)\]*_]*)(?P<gap>\s+)(?=\S)|[。！？]+[」』”’）]*""")
_LAST_WORD = re.compile(r"""(\S*?)[.?!…]*["'”’»)\]*_]*$""")
_OPENING = "\"'“‘«([*_"


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NEVER_END = _set(
    "mr mrs ms mx dr prof rev hon st mt gen capt cpt lt sgt gov sen messrs mme mlle "
    "e.g i.e cf viz vs approx ca u.s u.k u.n e.u u.s.a"
)
"""Abbreviations that something always follows, or that stand within a sentence as often as at its end."""
_BEFORE_NUMBERS = _set("no nos fig figs vol p pp ch sec art")
"""Abbreviations where a number follows, words where none does."""
_MAY_END = _set("a.m p.m etc inc ltd co corp jr sr ph.d m.d b.a m.a b.c a.d d.c")
"""Abbreviations that end a sentence where the next word is capitalised."""
_PAUSE = re.compile(r"""(?:[,;:]["'”’»)\]*_]*|(?<=\s)-|[–—])(?P<gap>\s+)(?=\S)""")
CLAUSE_WORDS = 3
"""The fewest words of a clause spoken alone: what follows a shorter one may not be ready by its end."""


ASCII_MARKS = {
    "✓": "+", "◐": "~", "✗": "x", "●": "*", "·": ".", "–": "-", "—": "-", "…": "...", "→": "->", "×": "x", "µ": "u",
    "«": "<<", "»": ">>", "‘": "'", "’": "'", "“": '"', "”": '"', "≥": ">=", "≤": "<=", "−": "-", "\u00a0": " ",
}  # fmt: skip
"""What replaces a mark of ours where an encoding lacks it."""


def _ascii(error: UnicodeError) -> tuple[str, int]:
    """An encoding error handler: the mark's replacement, a letter without its accent, or a question mark."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(ASCII_MARKS.get(character) or _bare(character) for character in lacking), error.end


def _bare(character: str) -> str:
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode() or "?"


ASCII = "predtui.ascii"
"""``errors`` of a text stream on which everything can be printed."""
codecs.register_error(ASCII, _ascii)


def sentence_end(text: str, start: int = 0, complete: bool = False) -> int:
    """Index just after the sentence that begins at ``start``, or -1 while it is unfinished.

    ``complete``: the text will not grow, so whatever is left is a sentence (-1 only where nothing but space is left).
    """
    for match in _END.finditer(text, start):
        if match["mark"] is None:
            return match.end()
        if _ends(text[start : match.start("gap")], match["mark"], match["close"], text[match.end()]):
            return match.start("gap")
    return len(text) if complete and text[start:].strip() else -1


def clause_end(text: str, start: int = 0, complete: bool = False) -> int:
    """Index just after the clause that begins at ``start``, or -1 while it is unfinished: at a comma, semicolon, colon
    or dash with a gap behind it, not between numbers, or where the sentence ends."""
    sentence = sentence_end(text, start, complete)
    for match in _PAUSE.finditer(text, start, sentence if sentence >= 0 else len(text)):
        apart = not (text[match.start() - 1].isdigit() and text[match.end()].isdigit())
        if apart and len(text[start : match.start()].split()) >= CLAUSE_WORDS:
            return match.start("gap")
    return sentence


def sentences(text: str, complete: bool = False) -> Iterator[str]:
    """The finished sentences of ``text`` in order; each carries the space before it, so that they join to the text."""
    start = 0
    while (end := sentence_end(text, start, complete)) >= 0:
        yield text[start:end]
        start = end


def first_sentence(text: str, complete: bool = False) -> str | None:
    """The first sentence of ``text`` without the space around it, or None while it is unfinished."""
    return _first(text, sentence_end(text, 0, complete))


def first_clause(text: str, complete: bool = False) -> str | None:
    """The first clause of ``text`` without the space around it, or None while it is unfinished."""
    return _first(text, clause_end(text, 0, complete))


def _first(text: str, end: int) -> str | None:
    return text[:end].strip() if end >= 0 else None


def _ends(sentence: str, mark: str, close: str, following: str) -> bool:
    """Whether ``sentence``, closing with ``mark`` and ``close``, is over, given the first character after the gap."""
    if close and following.islower():
        return False
    if "…" in mark or "..." in mark:
        return False
    if mark != ".":
        return True
    word = (_LAST_WORD.search(sentence) or [""])[0].rstrip(".\"'”’»)]*_").lstrip(_OPENING)
    return not _abbreviates(sentence, word, following)


def _abbreviates(sentence: str, word: str, following: str) -> bool:
    """Whether the full stop after ``word`` belongs to it: an abbreviation, an initial, or the number of a list item."""
    lower = word.lower()
    if lower in _NEVER_END or not word:
        return True
    if lower in _BEFORE_NUMBERS:
        return following.isdigit()
    if lower in _MAY_END:
        return following.islower()
    if len(word) == 1 and word.isalpha():
        return word != "I"
    return word.isdigit() and sentence.strip() in (f"{word}.", f"**{word}.**")
