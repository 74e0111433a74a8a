"""Voices that make a clause in one go, as synthesisers: a tenth of a second at a time, joined without clicks.

A network that is running cannot be stopped, so a sentence that would take longer is said clause by clause, and whoever
listens may change their mind in between. Must not know what makes the sound, nor when it is heard.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from predtui.errors import PredtuiError
from predtui.llm.base import Counters
from predtui.tts.base import SpeechState

Samples = npt.NDArray[np.float32]

PATIENCE_S = 0.1
"""The longest that a sentence is computed in one go."""
LONGEST = 200
"""Characters of a clause; a longer one is cut where a word ends."""
CHUNK_S = 0.06
FADE_S, MARGIN_S = 0.005, 0.02
"""At both ends of a clause: how long it swells and dies, and how much of its silence is kept."""
SILENCE = 0.01
"""Under this share of its loudest sample, the ends of a clause are silence."""
PAUSES_S = {",": 0.12, "、": 0.12, "，": 0.12, ";": 0.18, ":": 0.18, "—": 0.15, "–": 0.15}
SENTENCE_S = 0.25
"""The pause after any other mark; after a word there is none."""
_ENDS = re.compile(r"(?<=[,;:!?…—–])\s+|(?<=[，、；：。！？])\s*")
"""Where a clause ends; a full stop within a sentence is an abbreviation's."""
_SLOW = "takes {:.1f} s for a second of speech here. Which voice keeps up: predtui bench tts"


class Voice(Protocol):
    """What makes the sound of a clause."""

    rate: int
    """Samples per second."""
    title: str
    language: str
    """As eSpeak NG names it."""

    def say(self, clause: str) -> Samples:
        """Mono, -1 to 1; nothing where there is nothing to say. Raises PredtuiError."""
        ...


@dataclass(frozen=True, slots=True)
class Left:
    """Of a sentence: the clauses that nobody has made, and the sound that nobody has taken."""

    clauses: tuple[str, ...]
    pcm: bytes = b""

    @property
    def nbytes(self) -> int:
        return len(self.pcm)


class ClauseSpeech(Iterator[bytes]):
    """Chunks of about 60 ms. A clause is made when its first chunk is asked for."""

    def __init__(self, make: Callable[[str], bytes], left: Left, size: int) -> None:
        """``size``: bytes of a chunk."""
        self._make, self._left, self._size = make, left, size

    def __next__(self) -> bytes:
        clauses, pcm = self._left.clauses, self._left.pcm
        if not pcm:
            if not clauses:
                raise StopIteration
            pcm, clauses = self._make(clauses[0]), clauses[1:]
        self._left = Left(clauses, pcm[self._size :])
        return pcm[: self._size]

    def save(self) -> Left:
        return self._left


class ClauseSynthesizer:
    """A ``NeuralSynthesizer`` and ``Speaker`` over a ``Voice``. ``now``: seconds."""

    espeak_phonemes = False

    def __init__(self, voice: Voice, now: Callable[[], float] = time.perf_counter) -> None:
        self.rate, self.title, self.language = voice.rate, voice.title, voice.language
        self.counters = Counters()
        self._voice, self._now = voice, now
        self._work_s = self._sound_s = self._pace = 0.0

    def synthesize(self, text: str, state: SpeechState | None = None, after: SpeechState | None = None) -> ClauseSpeech:
        """Each clause has a prosody of its own."""
        left = state if isinstance(state, Left) else Left(tuple(clauses(text, int(self._pace * PATIENCE_S))))
        return ClauseSpeech(self._made, left, 2 * round(self.rate * CHUNK_S))

    @property
    def advice(self) -> str:
        """Says so where a second of speech takes longer than one."""
        factor = self._work_s / self._sound_s if self._sound_s else 0.0
        return f"{self.title} {_SLOW.format(factor)}" if factor > 1 else ""

    def close(self) -> None:
        """The network goes with the process."""

    def _made(self, clause: str) -> bytes:
        start = self._now()
        sound = self._voice.say(clause)
        took = self._now() - start
        self.counters.forwards += 1
        self.counters.tokens += len(clause)
        if took > 0:
            pace = len(clause) / took
            self._pace = (self._pace + pace) / 2 if self._pace else pace
        self._work_s, self._sound_s = self._work_s + took, self._sound_s + len(sound) / self.rate
        return pcm(shaped(sound, self.rate, pause(clause)))


def warmed(voice: Voice) -> ClauseSynthesizer:
    """The synthesiser, once the voice has said a word: the first is slow in any network. Raises PredtuiError."""
    voice.say("Hello.")
    return ClauseSynthesizer(voice)


def clauses(text: str, most: int) -> Iterator[str]:
    """``text`` in parts of up to ``most`` characters that end where a clause does; clauses that are longer alone."""
    part = ""
    for clause in (piece for end in _ENDS.split(text.strip()) for piece in _cut(end)):
        if part and len(part) + 1 + len(clause) > most:
            yield part
            part = ""
        part = f"{part} {clause}".strip()
    if part:
        yield part


def _cut(clause: str) -> Iterator[str]:
    while len(clause) > LONGEST:
        end = clause.rfind(" ", 0, LONGEST)
        end = end if end > 0 else LONGEST
        yield clause[:end]
        clause = clause[end:].lstrip()
    yield clause


def pause(clause: str) -> float:
    """Seconds of silence after it."""
    last = clause.rstrip("\"'”’)]» ")[-1:]
    return 0.0 if not last or last.isalnum() else PAUSES_S.get(last, SENTENCE_S)


def shaped(sound: Samples, rate: int, silence_s: float) -> Samples:
    """``sound`` without the silence at its ends, swelling from nothing and dying to nothing, then ``silence_s``."""
    level = np.abs(sound)
    loud = np.flatnonzero(level > SILENCE * level.max(initial=0.0))
    if not loud.size:
        return np.zeros(0, dtype=np.float32)
    margin = round(MARGIN_S * rate)
    kept = sound[max(0, int(loud[0]) - margin) : int(loud[-1]) + margin + 1].copy()
    length = min(round(FADE_S * rate), len(kept) // 2)
    swell = np.sin(np.linspace(0, np.pi / 2, length, endpoint=False, dtype=np.float32)) ** 2
    kept[:length] *= swell
    kept[len(kept) - length :] *= swell[::-1]
    return np.concatenate([kept, np.zeros(round(silence_s * rate), dtype=np.float32)])


def pcm(sound: Samples) -> bytes:
    return bytes((np.clip(np.nan_to_num(sound), -1, 1) * 32767).astype("<i2").tobytes())


def mono(sound: npt.NDArray[np.generic], who: str) -> Samples:
    """What a network made, as samples. Raises PredtuiError where that is no sound."""
    flat = np.asarray(sound).reshape(-1)
    if flat.dtype.kind != "f":
        raise PredtuiError(f"{who} made no sound, but {flat.dtype}.", "Is it the voice's own network?")
    return flat.astype(np.float32)
