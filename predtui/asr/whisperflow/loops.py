"""Phrases that a decoder writes twice though they were said once. Knows words and their times alone.

A model that waits for padding may say its last phrase again instead of stopping. The sound betrays it: words that were
never said get no time in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from predtui.asr.whisperflow.transcription import TimedWord

SQUEEZED_SECONDS = 0.05
"""A word, on average, in less of which nobody says a phrase."""


def without_loops(words: Sequence[TimedWord]) -> tuple[TimedWord, ...]:
    """``words`` with each phrase of two words and more that follows itself once, where one of both has no time."""
    left = list(words)
    size = len(left) // 2
    while size > 1:
        found = next((start for start in range(len(left) - 2 * size + 1) if _loops(left, start, size)), None)
        if found is None:
            size -= 1
            continue
        first, second = left[found : found + size], left[found + size : found + 2 * size]
        left[found : found + 2 * size] = first if _pace(first) >= _pace(second) else second
    return tuple(left)


def _loops(words: Sequence[TimedWord], start: int, size: int) -> bool:
    first, second = words[start : start + size], words[start + size : start + 2 * size]
    same = all(one.word.text == other.word.text for one, other in zip(first, second, strict=True))
    return same and min(_pace(first), _pace(second)) < SQUEEZED_SECONDS


def _pace(phrase: Sequence[TimedWord]) -> float:
    """Seconds a word from the end of the first, which may begin with a pause, to the end of the last."""
    gaps = [later.word.end - earlier.word.end for earlier, later in pairwise(phrase)]
    return sum(gaps) / len(gaps)
