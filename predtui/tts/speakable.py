"""What of a written sentence is said aloud, in the language of the voice: the way from a reply's text to an engine's.

A sentence at a time. Must not know of any synthesiser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from predtui.foreign import without_controls
from predtui.tts.pronunciations import NONE, Pronunciations
from predtui.tts.spoken import abbreviations, addresses, arithmetic, quantities, scripts
from predtui.tts.spoken.languages import lexicon
from predtui.tts.spoken.lexicon import Lexicon, applied
from predtui.tts.spoken.plain import plain

_PIECE = 2000
"""Characters prepared at once, so that time grows no faster than the text."""
_PRIVATE = re.compile("[\ue000-\uf8ff]")
"""Stands for words that the user's file respells."""
_FENCE = re.compile(r"(?m)^ {0,3}(?:```|~~~)")
_UNSAID = re.compile(r"[*`\\{}\[\]<>|•◦▪●_\u200b]+|\^(?!\d)|\$(?!\s?\d)")
_GAPS = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"\s+(?=[,.;:!?](?:\s|$))")
_MARKS_DOUBLED = re.compile(r"(?<=[,;:])[\s,;:]*[,;:]")


def speakable(text: str, language: str = "en-us", own: Pronunciations = NONE) -> str:
    """Plain text to read out in ``language``, as eSpeak NG names it; empty only where there is nothing to say.
    ``own``: how the user wants words to be said."""
    clean = _PRIVATE.sub("", text)
    words = lexicon(language)
    said = " ".join(filter(None, (_said(piece, language, words, own) for piece in _pieces(clean))))
    if any(map(str.isalnum, said)) or not any(map(str.isalnum, clean)):
        return said
    return _GAPS.sub(" ", without_controls(clean)).strip()


def _pieces(text: str) -> Iterator[str]:
    """Cut at spaces; a block of code is one."""
    at = 0
    while len(text) - at > _PIECE:
        cut = max(text.rfind(" ", at + _PIECE // 2, at + _PIECE), text.rfind("\n", at + _PIECE // 2, at + _PIECE))
        end = cut if cut > 0 else at + _PIECE
        yield text[at:end]
        at = end
    yield text[at:]


def _said(text: str, language: str, words: Lexicon, own: Pronunciations) -> str:
    guarded = arithmetic.prepared(text)
    bare = plain(guarded, words)
    if not any(map(str.isalnum, bare)):  # "42." is an answer, not an empty list item
        bare = guarded
    marked, kept = own.marked(bare, language)
    said = _in_words(marked, words)
    said = scripts.without_pictures(scripts.said(said, language, words))
    said = _UNSAID.sub(" ", without_controls(said))
    said = _MARKS_DOUBLED.sub("", _BEFORE_MARK.sub("", _GAPS.sub(" ", said)))
    return own.restored(said, kept).strip()


def _in_words(text: str, words: Lexicon) -> str:
    """The kinds of things in the order in which they are told apart."""
    text = addresses.said(text, words)
    text = applied(words.rules, text)
    text = abbreviations.said(text, words)
    text = arithmetic.ranges(text, words)
    text = quantities.said(text, words)
    text = arithmetic.said(text, words)
    return applied(words.endings, text)
