"""One round: a snapshot of the stream is encoded, then decoded, guided by the round before (WhisperFlow, section 3.2).

Runs on whichever thread it is called from. Must not know when rounds are made, nor what becomes of their words.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from predtui.asr.whisperflow.mel import FRAMES_A_SECOND, Samples
from predtui.asr.whisperflow.model import Encoded
from predtui.asr.whisperflow.pacing import Pacing
from predtui.asr.whisperflow.pruning import Pruning
from predtui.asr.whisperflow.search import Effort
from predtui.asr.whisperflow.stream import RATE, Snapshot, Stream
from predtui.asr.whisperflow.transcription import Transcription
from predtui.settings import AsrSettings
from predtui.state.events import Work


@dataclass(frozen=True, slots=True)
class FlowOptions:
    """``step``: seconds of sound between rounds, at least. ``buffer``: seconds after which it is cut; some of the
    window is kept free. ``settled``: how long before the end of the sound the newest stable word ends; ``hold``: every
    one. ``tail``: samples after every sound, the hush word; ``pad_to``: frames to pad to, 0 for none; ``pad_last_to``:
    those of a round over a sound that has ended, which may be the last word on it; ``ending``: samples of silence that
    such a round hears before the tail, lest a word at the very end be lost. ``pipelined``: encoding and decoding are
    two executors, the first of which decodes ``exchange`` tokens before it hands over (section 4.3.2); ``measured``:
    seconds that a round over half a second took, 0 if that is not known. ``least``: mean log-probability
    below which a round over half a second or more has understood nothing."""

    step: float = AsrSettings().step
    buffer: float = 15.0
    rounds: int = 2
    settled: float = 0.0
    hold: float = 0.0
    beam: int = 5
    pruning: Pruning = "forward"
    tail: Samples = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    pad_to: int = 0
    pad_last_to: int = 0
    ending: int = 0
    pipelined: bool = False
    exchange: int = 0
    measured: float = 0.0
    least: float = -math.inf

    def padding(self, ended: bool) -> int:
        """Frames to pad to, where the sound has ``ended`` and where it has not."""
        return max(self.pad_to, self.pad_last_to) if ended else self.pad_to

    def pacing(self) -> Pacing:
        """What paces the rounds."""
        padded = self.pad_to / FRAMES_A_SECOND
        return Pacing(self.step, self.beam, self.rounds, self.pipelined, self.measured, padded)

    def believable(self, seconds: float) -> float:
        """The mean log-probability that a round over so much sound has at least, where it has understood anything."""
        return self.least if seconds >= 0.5 else -math.inf

    def final(self, ended: bool) -> bool:
        """Whether a round hears a sound, that has ``ended`` or not, as the last round would."""
        return ended or (not self.ending and self.padding(ended) == self.padding(ended=True))

    def sound(self, samples: Samples, ended: bool) -> Samples:
        """What a round over ``samples`` hears of them, without the tail."""
        return np.pad(samples, (0, self.ending)) if ended else samples


class Job(Protocol):
    """What a round needs of a DecodeJob."""

    def step(self) -> bool: ...

    def advance(self, tokens: float) -> None: ...

    def result(self) -> Transcription: ...


class Model(Protocol):
    """What a round needs of a WhisperModel."""

    @property
    def seconds(self) -> float: ...

    def encode(self, samples: Samples, tail: Samples, pad_to: int = 0) -> Encoded: ...

    def decode_job(
        self, encoded: Encoded, prompt: str, reference: tuple[int, ...], beam: int = 5, pruning: Pruning = "forward"
    ) -> Job: ...


def make_stream(model: Model, options: FlowOptions) -> Stream:
    """An empty stream whose sounds, with the tail, fit into the model's window."""
    room = model.seconds - (options.ending + len(options.tail)) / RATE
    return Stream(min(options.buffer, 0.7 * room), 0.95 * room, options.rounds, options.settled, options.hold)


@dataclass(frozen=True, slots=True)
class Round:
    """What a round is over: a sound that has ``ended`` or not, with what the round before wrote for it; ``beam``: how
    many hypotheses it searches with."""

    snapshot: Snapshot
    reference: tuple[int, ...]
    ended: bool
    beam: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was heard in a round, and what that took from its beginning on."""

    round: Round
    heard: Transcription
    seconds: float
    gflops: float


class RoundRunner:
    """Runs rounds over ``model``. ``now``: seconds."""

    def __init__(self, model: Model, options: FlowOptions, now: Callable[[], float]) -> None:
        self._model, self._options, self._now = model, options, now
        self.work: deque[Work] = deque()
        """What was encoded and decoded when; several threads may add to it."""

    def run(self, one: Round, overtaken: Callable[[], bool]) -> Outcome | None:
        """All of a round; None where it was over a sound that goes on, and a pause or the end has come meanwhile."""
        begun = self._now()
        encoded, job = self.encode(one)
        if not one.ended and not self._decoded(job, overtaken):
            return None
        heard = self.decode(job)
        return Outcome(one, heard, self._now() - begun, encoded.gflops)

    def encode(self, one: Round) -> tuple[Encoded, Job]:
        """What the first executor does, which decodes the first tokens too."""
        begun = self._now()
        encoded, job = self.begin(one)
        job.advance(self._options.exchange)
        self.work.append(Work(stage="encode", start=begun, end=self._now()))
        return encoded, job

    def decode(self, job: Job) -> Transcription:
        """What the second executor does."""
        begun = self._now()
        heard = job.result()
        self.work.append(Work(stage="write", start=begun, end=self._now()))
        return heard

    def begin(self, one: Round) -> tuple[Encoded, Job]:
        """The round, encoded and to be decoded; not timed."""
        options, snapshot = self._options, one.snapshot
        sound = options.sound(snapshot.samples, one.ended)
        encoded = self._model.encode(sound, options.tail, options.padding(one.ended))
        return encoded, self._model.decode_job(encoded, snapshot.prompt, one.reference, one.beam, options.pruning)

    def _decoded(self, job: Job, overtaken: Callable[[], bool]) -> bool:
        """Whether all is decoded; False where the round was overtaken before."""
        begun = self._now()
        done = False
        while not done and not overtaken():
            done = job.step()
        if not done:
            self.work.append(Work(stage="write", start=begun, end=self._now()))
        return done


@dataclass(slots=True)
class Tally:
    """What the rounds of a recogniser took together."""

    rounds: int = 0
    seconds: float = 0.0
    gflops: float = 0.0
    effort: Effort = field(default_factory=Effort)

    def add(self, seconds: float, gflops: float, effort: Effort) -> None:
        self.rounds += 1
        self.seconds += seconds
        self.gflops += gflops
        self.effort.add(effort)
