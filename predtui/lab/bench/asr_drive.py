"""Plays a recording into a streaming recogniser and notes when each word became stable.

On the real clock the engine of the app hears it as it is spoken. On the virtual clock nobody waits: sound arrives in
virtual time, and a round takes the processor time that its encoding and writing took, so that other programs on the
machine change nothing. Must not know how methods are compared.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from predtui.asr.base import Recognizer
from predtui.asr.whisperflow.engine import FlowRecognizer
from predtui.asr.whisperflow.guards import believed
from predtui.asr.whisperflow.model import WhisperModel
from predtui.asr.whisperflow.rounds import FlowOptions, Tally, make_stream
from predtui.asr.whisperflow.stream import RATE, Snapshot, Stream
from predtui.asr.whisperflow.transcription import Transcription
from predtui.lab.bench.asr_sounds import Recording

FRAME = RATE // 50


@dataclass(slots=True)
class Outcome:
    """What was understood: words with the second each became stable, and what it took."""

    words: list[tuple[str, float]] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    unsaid: int = 0
    """Stable words that changed: there must be none."""
    ended: float = 0.0
    """The second of the final transcript."""

    def note(self, stable: str, now: float) -> None:
        """The stable text at second ``now``."""
        self.ended = now
        said = stable.split()
        known = [word for word, _ in self.words]
        self.unsaid += sum(old != new for old, new in zip(known, said, strict=False)) + max(0, len(known) - len(said))
        self.words += [(word, now) for word in said[len(known) :]]


def virtual(
    model: WhisperModel,
    options: FlowOptions,
    recording: Recording,
    spent: Callable[[], float] = time.process_time,
) -> Outcome:
    """WhisperFlow's rounds in virtual time; ``options.pipelined``: two executors, each busy on its own. ``spent``: the
    processor seconds so far, which is what rounds are taken to last."""
    return _Virtual(model, options, recording, spent).run()


class _Virtual:
    def __init__(
        self, model: WhisperModel, options: FlowOptions, recording: Recording, spent: Callable[[], float]
    ) -> None:
        self._model, self._options, self._recording, self._spent = model, options, recording, spent
        self._stream: Stream = make_stream(model, options)
        self._outcome = Outcome()
        self._heard = 0
        self._pacing = options.pacing()
        self._encoder_free = self._writer_free = 0.0
        self._waiting: deque[tuple[float, Snapshot, Transcription]] = deque()

    def run(self) -> Outcome:
        duration = self._recording.seconds
        while True:
            enough = self._heard / RATE + max(0.0, self._pacing.step - self._stream.unseen)
            start = max(enough, self._encoder_free)
            if start >= duration:
                break
            self._arrive(start)
            self._round(start)
        self._arrive(duration)
        self._take(np.inf)
        self._finish(max(duration, self._encoder_free, self._writer_free))
        return self._outcome

    def _arrive(self, until: float) -> None:
        count = round(until * RATE)
        self._stream.hear(self._recording.samples[self._heard : count])
        self._heard = max(self._heard, count)
        self._take(until)

    def _take(self, until: float) -> None:
        """The words of the rounds that are written by second ``until``."""
        while self._waiting and self._waiting[0][0] <= until:
            done, snapshot, heard = self._waiting.popleft()
            self._stream.words.rounds = self._pacing.agreeing(self._stream.length, self._stream.full)
            self._stream.take(snapshot, heard)
            self._outcome.note(self._stream.hypothesis(True).stable, done)

    def _round(self, start: float) -> None:
        snapshot = self._stream.snapshot()
        heard, encoding, writing = self._hear(snapshot)
        self._pacing.took(snapshot.end - snapshot.start, encoding + writing)
        encoded = start + encoding
        done = max(encoded, self._writer_free) + writing
        self._writer_free = done
        self._encoder_free = encoded if self._options.pipelined else done
        self._waiting.append((done, snapshot, heard))

    def _finish(self, start: float) -> None:
        snapshot = self._stream.snapshot()
        if len(snapshot.samples):
            heard, encoding, writing = self._hear(snapshot, ended=True)
            self._stream.take(snapshot, heard, last=True)
            start += encoding + writing
        self._outcome.note(self._stream.hypothesis(False).stable, start)

    def _hear(self, snapshot: Snapshot, ended: bool = False) -> tuple[Transcription, float, float]:
        """The round's words, and the processor seconds of either executor."""
        options = self._options
        reference = self._stream.reference(snapshot)
        begun = self._spent()
        encoded = self._model.encode(snapshot.samples, options.tail, options.padding(ended))
        job = self._model.decode_job(encoded, snapshot.prompt, reference, self._pacing.beam, options.pruning)
        job.advance(options.exchange)
        between = self._spent()
        heard = job.result()
        over = self._spent()
        self._outcome.tally.add(over - begun, encoded.gflops, heard.effort)
        heard = believed(heard, options.believable(snapshot.end - snapshot.start))
        return heard, between - begun, over - between


def fed(recognizer: Recognizer, recording: Recording, real: bool) -> Outcome:
    """Any recogniser, frame by frame; ``real``: as it is spoken, else in virtual time as above."""
    outcome = Outcome()
    pcm = (np.clip(recording.samples, -1.0, 1.0) * 32767).astype("<i2")
    recognizer.start()
    begun, spent, free = time.monotonic(), time.process_time(), 0.0
    for start in range(0, len(pcm), FRAME):
        due = min(len(pcm), start + FRAME) / RATE
        if real:
            time.sleep(max(0.0, begun + due - time.monotonic()))
        before = time.process_time()
        hypothesis = recognizer.feed(pcm[start : start + FRAME].tobytes(), True)
        free = max(free, due) + time.process_time() - before
        if hypothesis is not None:
            outcome.note(hypothesis.stable, time.monotonic() - begun if real else free)
    before = time.process_time()
    final = recognizer.finish()
    free += time.process_time() - before
    outcome.note(final.stable, time.monotonic() - begun if real else free)
    outcome.tally.seconds = time.process_time() - spent
    if isinstance(recognizer, FlowRecognizer):
        outcome.tally = recognizer.tally
    return outcome
