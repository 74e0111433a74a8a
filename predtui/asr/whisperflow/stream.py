"""The streaming core of WhisperFlow (section 3.2): the audio buffer that rounds are made over, and the transcript that
rounds agree on. Pure: no clock, no thread, no model, so that every engine and every benchmark drives the same one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from predtui.asr.agreement import LocalAgreement, Word, joined
from predtui.asr.base import Hypothesis
from predtui.asr.whisperflow.mel import Samples
from predtui.asr.whisperflow.transcription import TimedWord, Transcription

RATE = 16_000
PROMPT_CHARACTERS = 200
SEGMENT_SECONDS = 300.0
"""Longer sounds are taken in segments of this length, which share nothing (WhisperFlow, section 5)."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one round hears: ``samples`` from second ``start`` of the stream on, after the text ``prompt``."""

    samples: Samples
    start: float
    prompt: str

    @property
    def end(self) -> float:
        return self.start + len(self.samples) / RATE


class AudioBuffer:
    """The newest samples of a sound: a window whose end grows with it, and whose beginning moves on by ``drop``."""

    def __init__(self) -> None:
        self.samples: Samples = np.zeros(0, dtype=np.float32)
        self.start = 0.0
        """The second at which it begins; it never goes back."""

    @property
    def end(self) -> float:
        """Seconds of sound so far."""
        return self.start + len(self.samples) / RATE

    def append(self, samples: Samples) -> None:
        """Samples that are not finite are silence."""
        self.samples = np.concatenate([self.samples, np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0)])

    def drop(self, until: float) -> None:
        """It begins at second ``until``, as far as there are samples."""
        count = max(0, min(len(self.samples), round((until - self.start) * RATE)))
        self.samples = self.samples[count:]
        self.start += count / RATE


class Stream:
    """One utterance. ``buffer_seconds``: a longer buffer is cut after a stable word, so that half of it stays, for a
    model hears the first word of a sound badly; ``hardest``: one that is still longer loses its oldest half, whatever
    is in it. ``rounds`` have to agree on a word, the newest has to end ``settled`` seconds before the sound does, and
    every one ``hold`` seconds."""

    def __init__(
        self, buffer_seconds: float, hardest: float, rounds: int = 2, settled: float = 0.0, hold: float = 0.0
    ) -> None:
        self._limit, self._hardest, self._settled, self._hold = buffer_seconds, hardest, settled, hold
        self.buffer = AudioBuffer()
        self._segment = 0.0
        """The second at which this segment began."""
        self._uncut = False
        """Whether a round was taken since the buffer was last looked at for being too long."""
        self._newest: tuple[TimedWord, ...] = ()
        """The words of the last round."""
        self.words = LocalAgreement(rounds=rounds)
        self.unseen = 0.0
        self.delays: list[float] = []
        """Of each stable word, the seconds of sound heard after it before it was stable."""

    @property
    def heard(self) -> float:
        """Seconds of sound so far."""
        return self.buffer.end

    @property
    def length(self) -> float:
        """Seconds of sound that the next round is over."""
        return self.heard - self.buffer.start

    @property
    def full(self) -> bool:
        """Whether the buffer is to be cut after the next round."""
        return self.length > self._limit

    @property
    def pressing(self) -> bool:
        """Whether a round is to be made now, lest sound be lost that none has heard: the buffer is full, and a good
        part of it is new."""
        return self.full and self.unseen >= self._limit / 4

    def hear(self, samples: Samples) -> None:
        """More sound, mono at 16 kHz. The buffer is cut now, not after a round: the sound that it was over may be all
        there is."""
        buffer = self.buffer
        if self._uncut and self.full:
            buffer.drop(min(self.words.cut(buffer.start, self.heard - self._limit / 2), self.heard))
        self._uncut = False
        buffer.append(samples)
        self.unseen += len(samples) / RATE
        if len(buffer.samples) > self._hardest * RATE:
            buffer.drop(self.heard - self._hardest / 2)

    def snapshot(self) -> Snapshot:
        """The sound for a round that begins now."""
        self.unseen = 0.0
        start = self.buffer.start
        before = [word for word in self.words.stable if word.after(self._segment) and not word.after(start)]
        return Snapshot(self.buffer.samples, start, joined(before)[-PROMPT_CHARACTERS:])

    def reference(self, snapshot: Snapshot) -> tuple[int, ...]:
        """The tokens of the round before for the sound of ``snapshot``."""
        return tuple(token for one in self._newest if one.word.after(snapshot.start) for token in one.tokens)

    def take(self, snapshot: Snapshot, heard: Transcription, last: bool = False) -> None:
        """The words of the round over ``snapshot``. The ``last`` round's are all stable."""
        self._newest = tuple(
            TimedWord(Word(one.word.text, one.word.start + snapshot.start, one.word.end + snapshot.start), one.tokens)
            for one in heard.words
        )
        words = [one.word for one in self._newest]
        known = len(self.words.stable)
        self._agree(snapshot, words, last)
        self.delays += [max(0.0, self.heard - word.end) for word in self.words.stable[known:]]

    def _agree(self, snapshot: Snapshot, words: list[Word], last: bool) -> None:
        if last or snapshot.end - self._segment >= SEGMENT_SECONDS:
            self.words.finish(words, since=snapshot.start)
            self._segment = snapshot.end
            self._newest = ()
            self.buffer.drop(snapshot.end)
            return
        until = snapshot.end - self._settled if self._settled else math.inf
        held = snapshot.end - self._hold if self._hold else math.inf
        self.words.update(words, until, snapshot.start, held)
        self._uncut = True

    def hypothesis(self, unfinished: bool) -> Hypothesis:
        return Hypothesis(joined(self.words.stable), joined(self.words.tentative), unfinished)
