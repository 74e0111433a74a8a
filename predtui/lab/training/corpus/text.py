"""Sentences, words and numbers of a plain English text: the few measures that composer, judge and oracle share."""

from __future__ import annotations

import re

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9\"'])")
_ABBREVIATION = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Mt|vs|etc|[A-Z])|\b[ap]\.m)\.$")
_WORD = re.compile(r"[\w']+(?:[.:]\d+)?")


def sentences(text: str) -> list[str]:
    """The sentences of ``text``; full stops of abbreviations, initials and decimals do not end one."""
    found: list[str] = []
    for piece in _END.split(text.strip()):
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] += f" {piece}"
        elif piece:
            found.append(piece)
    return found


def words(text: str) -> list[str]:
    """The words and numbers of ``text`` in lower case, without punctuation."""
    return [word.strip("'") for word in _WORD.findall(text.lower())]


def holds(text: str, phrase: str) -> bool:
    """Whether ``phrase`` stands in ``text`` as whole words or numbers; case and punctuation do not matter."""
    return f" {' '.join(words(phrase))} " in f" {' '.join(words(text))} "


def cut(text: str, count: int) -> str:
    """The first ``count`` words of ``text``, words being what blanks separate."""
    return " ".join(text.split(" ")[:count])


def capitalised(text: str) -> str:
    """``text`` with its first letter in upper case and the rest as it is."""
    return text[:1].upper() + text[1:]
