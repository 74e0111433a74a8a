"""Which word of a reply is being said, by the marks that a synthesiser gives. Must not know who speaks."""

from __future__ import annotations

from collections.abc import Sequence

from predtui.state.events import WordMark
from predtui.words import begins_word, joined


def said_by(sentence: str, marks: Sequence[WordMark], seconds: float) -> tuple[int, int]:
    """Begin and end of the word of ``sentence`` that is being said after so many seconds; (0, 0) before the first."""
    start = max((mark.at for mark in marks if mark.seconds <= seconds), default=None)
    if start is None:
        return 0, 0
    end = next((at for at in range(start + 1, len(sentence)) if begins_word(sentence, at)), len(sentence))
    return start, start + len(sentence[start:end].rstrip())


def said_within(reply: str, sentences: Sequence[str], index: int, word: tuple[int, int]) -> tuple[int, int]:
    """The same ``word`` of the sentence ``index`` in the whole ``reply``; (0, 0) where that sentence is not in it."""
    before = joined(sentences[:index])
    at = reply.find(sentences[index], len(before) if reply.startswith(before) else 0)
    return (at + word[0], at + word[1]) if at >= 0 else (0, 0)


def with_marks(known: Sequence[WordMark], more: Sequence[WordMark]) -> tuple[WordMark, ...]:
    """Both, in the order of time; what is told of again, after a restart, counts once."""
    last = known[-1].seconds if known else -1.0
    return (*known, *(mark for mark in more if mark.seconds > last))
