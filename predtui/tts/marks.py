"""When each word of a sentence is said: sound that knows it, and the way from what is spoken back to what is written.

What is spoken may have other words than what is written ("three dollars fifty" for "$3.50"). Must not know any engine.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from difflib import SequenceMatcher

from predtui.state.events import WordMark
from predtui.words import begins_word


class MarkedSound(bytes):
    """PCM of a text, with the ``words`` of it that begin by its end, their ``at`` counting that text's characters."""

    words: tuple[WordMark, ...]

    def __new__(cls, pcm: bytes, words: tuple[WordMark, ...]) -> MarkedSound:
        made = super().__new__(cls, pcm)
        made.words = words
        return made


class Alignment:
    """Of what is ``spoken`` with what is ``written``, word by word. Words that both have stand for each other; between
    these, as many of one side are for as many of the other as their numbers make it. Never goes back."""

    def __init__(self, spoken: str, written: str) -> None:
        self._spoken, self._written = _words(spoken), _words(written)
        self._at = _matched(_named(spoken, self._spoken), _named(written, self._written))

    def written(self, mark: WordMark) -> WordMark:
        """The word of what is written that is said there. A sentence without words begins with its first."""
        if not self._written:
            return WordMark(0, mark.seconds)
        word = max(0, bisect_right(self._spoken, mark.at) - 1)
        return WordMark(self._written[self._at[word] if self._at else 0], mark.seconds)


def _words(text: str) -> list[int]:
    """Where they begin."""
    return [at for at in range(len(text)) if begins_word(text, at)]


def _named(text: str, starts: Sequence[int]) -> list[str]:
    """The words, without what does not tell them apart."""
    ends = [*starts, len(text)][1:]
    return ["".join(filter(str.isalnum, text[start:end])).casefold() for start, end in zip(starts, ends, strict=True)]


def _matched(spoken: Sequence[str], written: Sequence[str]) -> list[int]:
    """For each spoken word the number of its written one."""
    found: list[int] = []
    for _, begin, end, start, stop in SequenceMatcher(None, spoken, written, autojunk=False).get_opcodes():
        for number in range(end - begin):
            place = start + number * (stop - start) // (end - begin)
            found.append(min(place, len(written) - 1))
    return found
