"""Speaks a sentence that is too long for the network in parts: where to cut it, and one speech out of several.

Must not know of tensors or of phonemes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from predtui.tts.base import Speech, SpeechState

Speak = Callable[[str, SpeechState | None, SpeechState | None], Speech]
"""``Synthesizer.synthesize``: text, saved state, sentence before."""
_CLAUSE = re.compile(r"[,;:–—.?!)]\s+|\s[–—-]\s")
_WORD = re.compile(r"\s+")


def parts(text: str, fits: Callable[[str], bool]) -> list[str]:
    """``text`` in parts that fit, halved again and again near the middle: where a clause ends, else between words, else
    anywhere. A single character is a part whether or not it fits."""
    if len(text) < 2 or fits(text):
        return [text]
    cut = _nearest_middle(_CLAUSE, text, len(text) // 4) or _nearest_middle(_WORD, text, len(text) // 2)
    cut = cut or len(text) // 2
    halves = text[:cut].strip(), text[cut:].strip()
    return [part for half in halves if half for part in parts(half, fits)]


def _nearest_middle(mark: re.Pattern[str], text: str, reach: int) -> int:
    """The end of the match nearest the middle, at most ``reach`` characters from it and inside ``text``; 0: none."""
    middle = len(text) // 2
    ends = [end for match in mark.finditer(text) if abs((end := match.end()) - middle) <= reach and 0 < end < len(text)]
    return min(ends, key=lambda end: abs(end - middle), default=0)


@dataclass(frozen=True, slots=True)
class PartsState:
    """A speech in parts, saved: ``state`` of the part being spoken, and the texts that are ``left``."""

    state: SpeechState
    left: tuple[str, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of memory that it holds."""
        return self.state.nbytes


class SpeechInParts(Iterator[bytes]):
    """The sound of one part after another, each continuing the prosody of the one before: 16-bit PCM, mono."""

    def __init__(self, speak: Speak, speech: Speech, left: tuple[str, ...]) -> None:
        self._speak, self._speech, self._left = speak, speech, left

    def __next__(self) -> bytes:
        """Raises PredtuiError as its parts do."""
        while (chunk := next(self._speech, None)) is None:
            if not self._left:
                raise StopIteration
            self._speech = self._speak(self._left[0], None, self._speech.save())
            self._left = self._left[1:]
        return chunk

    def save(self) -> PartsState:
        """What ``synthesize`` can go on from."""
        return PartsState(self._speech.save(), self._left)
