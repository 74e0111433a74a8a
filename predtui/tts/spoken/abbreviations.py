"""Abbreviations in full. Must not know a language's words."""

from __future__ import annotations

import re
from functools import lru_cache

from predtui.tts.spoken.lexicon import Lexicon, one_of

_END = re.compile(r"[\"'”’»)\]*_]*$")


def said(text: str, words: Lexicon) -> str:
    """The full stop of one at the end of the text ends the sentence as well."""
    anywhere, numbered = _patterns(words)
    if words.numbered:
        text = numbered.sub(lambda match: f"{words.numbered[match[1]]} ", text)
    return anywhere.sub(lambda match: _whole(match, words), text) if words.abbreviations else text


def _whole(match: re.Match[str], words: Lexicon) -> str:
    last = match[0].endswith(".") and _END.match(match.string, match.end())
    return words.abbreviations[match[0]] + ("." if last else "")


@lru_cache(maxsize=8)
def _patterns(words: Lexicon) -> tuple[re.Pattern[str], re.Pattern[str]]:
    anywhere, numbered = one_of(words.abbreviations), one_of(words.numbered)
    return (
        re.compile(rf"(?<![\w.])(?:{anywhere})(?!\w)"),
        re.compile(rf"(?<![\w.])({numbered})\s?(?=\d)"),
    )
