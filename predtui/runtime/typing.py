"""What a line of text that is being edited says so far: which words are whole, which one is still being typed, and when
a pause is long for the one who types.

The one reading of typed text for the screen, `predtui turn`, recorded streams and the benches. Pure; must not know of
widgets, of keys, or of what is done with the words.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, replace
from unicodedata import category

from predtui.state.events import Transcript
from predtui.words import begins_word, gap, glued, joined, last_word, tidy

_WORD_EXTRAS = "'’-_"
_INTERVALS = 9
"""Keys that tell how fast somebody writes."""
_OVERDUE = 1.5
"""So many times the usual interval without a key are a pause."""
_LONGEST_INTERVAL = 2.0
"""Seconds between two keys of one who writes."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A line as it stands: ``cursor`` counts the characters before the cursor, None: all of them. ``final``: Enter was
    pressed. ``time`` in seconds of the clock. ``aside``: it is typed for show, and no part of the conversation."""

    text: str
    cursor: int | None = None
    final: bool = False
    time: float = 0.0
    aside: bool = False


class Rhythm:
    """How fast somebody writes: a pause is what is long for them."""

    def __init__(self, shortest: float) -> None:
        """``shortest``: of what is called a pause, in seconds; 0: nothing is."""
        self._shortest = shortest
        self._intervals: deque[float] = deque(maxlen=_INTERVALS)
        self._last = -math.inf

    def pause(self, time: float) -> float:
        """A key came at ``time``: after how many seconds without another there is a pause; 0: never."""
        if (interval := time - self._last) < _LONGEST_INTERVAL:
            self._intervals.append(interval)
        self._last = time
        usual = sorted(self._intervals)[len(self._intervals) // 2] if self._intervals else 0.0
        return max(self._shortest, _OVERDUE * usual) if self._shortest else 0.0


def read(typed: Typed) -> Transcript:
    """The line as a transcript.

    The word that the cursor stands behind a letter of is still being typed; with other words behind it, the line is
    being edited in its middle. All other words are whole, and all are once the line is final.
    """
    cursor = len(typed.text) if typed.cursor is None else typed.cursor
    before = typed.text[:cursor]
    if typed.final or not _in_word(before[-1:]):
        return Transcript(stable=tidy(typed.text), unfinished=False, final=typed.final, time=typed.time)
    begin, end = last_word(before), cursor + _rest(typed.text, cursor)
    head, word, rest = typed.text[:begin], typed.text[begin:end], typed.text[end:]
    stable, following = tidy(head), tidy(rest)
    return Transcript(
        stable=stable + _space(stable, word, head[len(head.rstrip()) :]),
        tentative=word,
        following=_space(word, following, rest[: len(rest) - len(rest.lstrip())]) + following,
        time=typed.time,
    )


def typed_as(transcript: Transcript) -> Typed:
    """A line that reads as ``transcript`` does, of all those that do."""
    if transcript.final or not transcript.unfinished:
        whole = transcript.text if transcript.final else f"{transcript.text} "
        return Typed(whole, final=transcript.final)
    cursor = len(joined((transcript.stable, transcript.tentative)))
    while cursor and not _in_word(transcript.text[cursor - 1]):
        cursor -= 1
    return Typed(transcript.text, cursor)


def _rest(text: str, cursor: int) -> int:
    """How many characters behind ``cursor`` belong to the word before it."""
    ends = (at for at in range(cursor, len(text)) if text[at].isspace() or begins_word(text, at))
    return next(ends, len(text)) - cursor


def _space(left: str, right: str, between: str) -> str:
    """The space that stands ``between`` two parts of a text, where joining them would leave it out."""
    return gap(between) if left and right and ("\n" in between or glued(left, right)) else ""


def paused(transcript: Transcript) -> Transcript | None:
    """What is taken for said in a pause: all words, also the one being typed or spoken. None where that is nothing new.

    Speculating on it costs idle time only, and leaves nothing to do where the input ends there.
    """
    if transcript.final or not transcript.unfinished or transcript.prompt == transcript.text:
        return None
    return replace(transcript, paused=True, time=0.0)


def same(left: Transcript, right: Transcript) -> bool:
    """Whether two transcripts of a line say the same words, as far typed."""
    return _said(left) == _said(right)


def _said(transcript: Transcript) -> tuple[str, str, str, bool]:
    return (transcript.stable, transcript.tentative, transcript.following, transcript.final)


def _in_word(character: str) -> bool:
    return character != "" and (character.isalnum() or character in _WORD_EXTRAS or category(character)[0] == "M")
