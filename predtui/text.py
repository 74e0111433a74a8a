"""Where sentences end in running text, and how it is written in ASCII. Must not know of tokens, models or sound.

A sentence is what ends at ``.``, ``?`` or ``!`` (PredGen, appendix A.1) or at a mark of another script, but not inside
numbers, abbreviations, addresses or an ellipsis; in scripts without spaces it also ends where it grows too long. Text
grows while it is read, so an end counts only once what follows it is known: an end that was found once stays an end
however the text goes on.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from predtui.abbreviations import ARTICLES, BEFORE_NUMBERS, COUNTED, COUNTING, MAY_END, NEVER_END, ORDINALS
from predtui.words import UNSPACED, count

_SOFT = ".?!…۔"
"""Marks that end a sentence where a space follows."""
_HARD = "。｡！？।॥؟։።፧፨។៕။།᠃᠉෴꯫"
"""Marks that end a sentence wherever they stand."""
_CLOSING = r"\"'”’»)\]*_」』】》〉）］"
_THAI = "\u0e01-\u0e2e\u0e30-\u0e45\u0e47-\u0e4e\u0e81-\u0eae\u0eb0-\u0ec4\u0ec8-\u0ecd"
"""Thai and Lao, which end sentences with a space: all but the marks that repeat and abbreviate."""
_GREEK = "\u0370-\u03ff\u1f00-\u1fff"
_PICTURES = "\u2600-\u27bf\u2b50\U0001f000-\U0001faff\u200d\ufe0f"
"""Behind a mark on the same line, they belong to the sentence that it ends."""
_END = re.compile(
    rf"(?P<mark>[{_SOFT}]+|(?<=[{_GREEK}])[;\u037e])(?P<close>[{_CLOSING}“‘›]*)(?P<pictures>(?:[ \t]*[{_PICTURES}])*)"
    rf"(?P<gap>\s+)(?:(?=[^\s{_PICTURES}])|(?<=\n)(?=\S))"
    rf"|(?P<hard>[{_SOFT}]*(?:[{_HARD}]|(?<!\d)．)[{_SOFT}{_HARD}．]*[{_CLOSING}]*)(?=[^{_SOFT}{_HARD}．{_CLOSING}])"
    rf"|(?<=[{_THAI}])(?P<space>\s+)(?=[{_THAI}])"
)
_LAST_WORD = re.compile(r"""(\S*?)[.?!…]*["'”’»)\]*_]*$""")
_FIRST_WORD = re.compile(r"[^\W\d_]*")
_OPENING = "\"'“‘«„‚([*_"
_ROMAN = re.compile(r"[IVXLC]+")
_LETTER = re.compile(f"[{UNSPACED}]")
_BREAK = re.compile(rf"(?<=[，、；：،၊])(?=[^\s{_CLOSING}])|(?<=\S)(?=\s+\S)")
"""Where a long sentence may be cut, in scripts without spaces."""
_BETWEEN = re.compile(f"(?<=[{UNSPACED}])(?=[{UNSPACED}])")
SPACED, LONG, LONGEST = 15, 80, 160
"""Letters of such a script from which on a space ends a sentence where nothing else does, from which on it ends at the
next comma or space, and at the next letter."""
_PAUSE = re.compile(
    r"""(?:[,;:،؛]["'”’»)\]*_]*|(?<=\s)-|[–—])(?P<gap>\s+)(?=\S)"""
    rf"|(?P<wide>[，、；：])(?=[^\s{_CLOSING}])"
)
_FENCE = re.compile(r"[ \t]{0,3}(?P<fence>```+(?=[^`\n]*(?:\n|\Z))|~~~+)")
_BLOCK = re.compile(r"\n[ \t]*(?:\n|(?:[-*+•]|\d{1,3}[.)]|#{1,6})[ \t]+(?=\S)|```|~~~)")
"""Where a paragraph, the item of a list, a heading or a block of code begins, or an empty line."""
_MARKER = re.compile(r"[\s>]*(?:[-*+•]|#{1,6}|\d{1,3}[.)])?[\s*_]*")
_ITEM = re.compile(r"[\s(*_]*(\d{1,3})[.)]\s")
_LISTED = re.compile(r"\s+[*_]*(\d{1,3})\.\Z")
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
    if fence := _fence(text, start):
        return _code_end(text, fence, complete)
    longest, block = _too_long(text, start), _block(text, start)
    for match in _END.finditer(text, start):
        end = match.end("pictures") if match["mark"] else match.end("hard") if match["hard"] else match.start("space")
        if 0 <= longest < end or 0 <= block < end:
            break
        if match["mark"] == "." and (item := _next_item(text[start : match.end("mark")])):
            return start + item
        if _ends(text, match, start, complete):
            return end
    soonest = min((end for end in (longest, block) if end >= 0), default=-1)
    return soonest if soonest >= 0 else len(text) if complete and text[start:].strip() else -1


def clause_end(text: str, start: int = 0, complete: bool = False) -> int:
    """Index just after the clause that begins at ``start``, or -1 while it is unfinished: at a comma, semicolon, colon
    or dash with a gap behind it, not between numbers, or where the sentence ends."""
    sentence = sentence_end(text, start, complete)
    if _fence(text, start):
        return sentence
    for match in _PAUSE.finditer(text, start, sentence if sentence >= 0 else len(text)):
        end = match.end("wide") if match["wide"] else match.start("gap")
        apart = not (text[match.start() - 1].isdigit() and text[match.end()].isdigit())
        if apart and count(text[start : match.start()]) >= CLAUSE_WORDS * (2 if match["wide"] else 1):
            return end
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


def is_marked(text: str) -> bool:
    """Whether ``text`` closes with a mark that ends a sentence."""
    return text[-1:] != "" and text[-1] in _SOFT + _HARD


def _first(text: str, end: int) -> str | None:
    return text[:end].strip() if end >= 0 else None


def _fence(text: str, start: int) -> re.Match[str] | None:
    """Of the block of code with which the sentence begins, if it does."""
    at = start
    while at < len(text) and text[at].isspace():
        at += 1
    line = max(text.rfind("\n", start, at) + 1, start)
    match = _FENCE.match(text, line)
    return match if match and (line == 0 or text[line - 1] == "\n") else None


def _code_end(text: str, fence: re.Match[str], complete: bool) -> int:
    """Behind the line that closes a block of code; -1: not yet."""
    closing = re.compile(rf"\n[ \t]{{0,3}}{fence['fence']}{fence['fence'][0]}*[ \t]*(?=\n)")
    match = closing.search(text, fence.end())
    return match.end() if match else len(text) if complete else -1


def _block(text: str, start: int) -> int:
    """Where the sentence from ``start`` ends because a block follows; -1: nowhere yet. A marker of a list is no
    sentence."""
    if "\n" not in text:
        return -1
    content = _MARKER.match(text, start)
    for match in _BLOCK.finditer(text, content.end() if content else start):
        if text[start : match.start()].strip():
            return start + len(text[start : match.start()].rstrip())
    return -1


def _next_item(sentence: str) -> int:
    """Where the next item begins within a list on one line, at whose number ``sentence`` ends; 0: it is none."""
    first, marker = _ITEM.match(sentence), _LISTED.search(sentence)
    if not first or not marker or int(marker[1]) != int(first[1]) + 1 or marker.start() < first.end():
        return 0
    before = sentence[first.end() : marker.start()].split()
    return marker.start() if before and before[-1].lower() not in COUNTING else 0


def _too_long(text: str, start: int) -> int:
    """Where the sentence that begins at ``start`` is cut though nothing ends it, in a script without spaces; -1: not
    yet."""
    if text.isascii():
        return -1
    letters = [match.end() for match in islice(_LETTER.finditer(text, start), LONGEST)]
    if len(letters) < LONG:
        return -1
    cut = _BREAK.search(text, letters[LONG - 1])
    last = next(_cuts(text, letters[-1]), -1) if len(letters) == LONGEST else -1
    soonest = [end for end in (cut.start() if cut else -1, last) if end >= 0]
    return min(soonest, default=-1)


def _cuts(text: str, start: int) -> Iterator[int]:
    """Indices between two letters of a script without spaces, not before a mark on a letter."""
    for match in _BETWEEN.finditer(text, start):
        if unicodedata.category(text[match.start()])[0] != "M":
            yield match.start()


def _ends(text: str, match: re.Match[str], start: int, complete: bool) -> bool:
    """Whether the sentence from ``start`` is over at ``match``, as far as is known."""
    if match["space"]:
        return len(_LETTER.findall(text, start, match.start())) >= SPACED
    mark, following = match["mark"], text[match.end() :]
    if match["pictures"]:
        return True
    if match["hard"]:
        return True
    if match["close"] and following[0].islower():
        return False
    if "…" in mark or "..." in mark:
        return False
    return mark != "." or not _abbreviates(text[start : match.end("close")], following, complete)


def _abbreviates(sentence: str, following: str, complete: bool) -> bool:
    """Whether the full stop at the end of ``sentence`` belongs to its last word: an abbreviation, an initial, an
    ordinal, or the number of a list item. What may still turn out to be one is, for now."""
    word = (_LAST_WORD.search(sentence) or [""])[0].rstrip(".\"'”’»)]*_").lstrip(_OPENING)
    lower, before = word.lower(), [one.lower().strip(f".{_OPENING}") for one in sentence.split()[-3:-1]]
    if lower in NEVER_END or not word or " ".join((*before[-1:], lower)) in NEVER_END:
        return True
    if lower in COUNTED and before and before[-1][-1:].isdigit():
        return True
    if lower in BEFORE_NUMBERS:
        return following[0].isdigit()
    if lower in MAY_END or " ".join((*before[-1:], lower)) in MAY_END:
        return following[0].islower()
    if len(word) == 1 and word.isalpha():
        return word not in "IЯя" and (word.lower() != word.upper() or "\u0590" <= word <= "\u06ff")
    if word.isdigit():
        return sentence.strip() in (f"{word}.", f"**{word}.**") or _ordinal(word, before, following, complete)
    return _ROMAN.fullmatch(word) is not None and following[0].islower()


def _ordinal(number: str, before: list[str], following: str, complete: bool) -> bool:
    """Whether ``number`` with a full stop counts, as in "am 3. Oktober"."""
    if len(number) > 2:
        return False
    if following[0].islower() or (before[-1:] and before[-1] in ARTICLES and before != ["i", "am"]):
        return True
    noun = (_FIRST_WORD.match(following) or [""])[0]
    growing = not complete and len(noun) == len(following)
    return any(one == noun.lower() or (growing and one.startswith(noun.lower())) for one in ORDINALS)
