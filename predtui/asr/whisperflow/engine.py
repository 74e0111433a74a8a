"""WhisperFlow: streaming Whisper that keeps up (Wang, Xu and Lin, 2025). The engine of the stage "asr".

Rounds over the unpadded buffer and a hush word, decoding pruned by the round before, and, where two executors pay,
encoding of one round while the one before is being decoded. Hears only what voice activity detection calls speech.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from predtui.asr.base import Hypothesis
from predtui.asr.whisperflow.final_round import FinalRound
from predtui.asr.whisperflow.guards import believed
from predtui.asr.whisperflow.pipeline import Pipeline
from predtui.asr.whisperflow.rounds import FlowOptions, Model, Outcome, Round, RoundRunner, Tally, make_stream
from predtui.asr.whisperflow.stream import RATE, Snapshot
from predtui.state.events import Work


class FlowRecognizer:
    """Recognizer over a WhisperModel. ``now``: seconds, to pace the rounds."""

    rate = RATE

    def __init__(self, model: Model, options: FlowOptions, now: Callable[[], float] = time.monotonic) -> None:
        self._model, self._options = model, options
        self._runner = RoundRunner(model, options, now)
        self._pipeline = Pipeline(self._runner, now) if options.pipelined else None
        self._pacing = options.pacing()
        self.overtaken: Callable[[], bool] = lambda: False
        """As ``Overtaken`` says."""
        self.start()

    def start(self) -> None:
        if self._pipeline:
            self._pipeline.forget()
        self._runner.work.clear()
        self._stream = make_stream(self._model, self._options)
        self._last = Hypothesis()
        self._pacing.start()
        self.log_probability: float | None = None
        """Mean over the tokens of the last round; None before the first."""
        self._final = FinalRound(self._options)
        self.tally = Tally()

    def feed(self, pcm: bytes, voiced: bool) -> Hypothesis | None:
        """A pause brings a round at once, and completes the last word."""
        stream = self._stream
        if voiced:
            stream.hear(np.frombuffer(pcm, dtype="<i2").astype(np.float32) / 32768.0)
        self._collect(wait=False)
        if self._due(voiced):
            self._begin(ended=not voiced)
        new = stream.hypothesis(unfinished=voiced)
        if new == self._last or not (new.stable or new.tentative):
            return None
        self._last = new
        return new

    def finish(self) -> Hypothesis:
        """One more round over all of the buffer, unless the last, in a pause, heard just that. Its words are final."""
        self._collect(wait=True)
        snapshot = self._stream.snapshot()
        if len(snapshot.samples):
            if not self._final.knows(snapshot):
                self._run(self._round(snapshot, ended=True))
            if self._final.outcome:
                self._stream.take(snapshot, self._final.outcome.heard, last=True)
        return self._stream.hypothesis(unfinished=False)

    def sureness(self) -> float | None:
        """Mean log-probability of the tokens of a round over the sound so far, or of one that has ended, that no other
        has guided: a function of the sound alone. None without sound."""
        self._collect(wait=True)
        samples = self._stream.buffer.samples
        if not len(samples) and self._final.outcome:
            samples = self._final.outcome.round.snapshot.samples
        if not len(samples):
            return None
        _, job = self._runner.begin(Round(Snapshot(samples, 0.0, ""), (), ended=True, beam=self._options.beam))
        return job.result().mean_logprob

    def again(self) -> bool:
        """As ``Repeating`` says."""
        if self._final.outcome is None:
            return False
        _, job = self._runner.begin(self._final.outcome.round)
        job.result()
        return True

    def worked(self) -> list[Work]:
        """Encoding and decoding, a round each; the executors go on adding."""
        work = self._runner.work
        return [work.popleft() for _ in range(len(work))]

    def summary(self) -> str:
        """Mean delay of a word, and the rounds' time by the sound's."""
        delays, heard = self._stream.delays, self._stream.heard
        if not delays:
            return ""
        mean = 1000 * sum(delays) / len(delays) + 1000 * self.tally.seconds / max(1, self.tally.rounds)
        return f"a word after {mean:.0f} ms, {self.tally.seconds / heard:.2f} of real time"

    @property
    def keeps_up(self) -> bool:
        """Whether rounds over the sound so far are made while it goes on; else all is left for its end."""
        return self._pacing.pays(self._stream.length)

    def _due(self, voiced: bool) -> bool:
        """Whether a round over all that was heard is to be made now."""
        stream = self._stream
        if stream.pressing or not self.keeps_up:
            return stream.pressing
        enough = stream.unseen >= self._pacing.step
        if not voiced:
            return not self._final.covers(stream.heard) and (enough or self._pacing.quick(stream.length))
        return enough and not self.overtaken()

    def _begin(self, ended: bool) -> None:
        """A round over all that was heard: into the pipeline, unless it is busy, or at once, also where nothing may be
        heard before it is done."""
        if self._pipeline and not self._stream.full:
            if not self._pipeline.busy:
                self._pipeline.submit(self._round(self._stream.snapshot(), ended))
            return
        self._collect(wait=True)
        if outcome := self._run(self._round(self._stream.snapshot(), ended)):
            self._take(outcome)

    def _take(self, outcome: Outcome) -> None:
        stream = self._stream
        stream.words.rounds = self._pacing.agreeing(stream.length, stream.full)
        stream.take(outcome.round.snapshot, outcome.heard)

    def _round(self, snapshot: Snapshot, ended: bool) -> Round:
        one = Round(snapshot, self._stream.reference(snapshot), ended, self._pacing.beam)
        self._final.begun(one)
        return one

    def _run(self, one: Round) -> Outcome | None:
        """None where it was overtaken; one over a full buffer never is, for its sound makes room for what follows."""
        outcome = self._runner.run(one, (lambda: False) if self._stream.full else self.overtaken)
        if outcome is None:
            self._final.given_up()
            return None
        return self._done(outcome)

    def _collect(self, wait: bool) -> None:
        """The words of the rounds in the pipeline that are done; ``wait``: of all."""
        for outcome in self._pipeline.done(wait) if self._pipeline else ():
            self._take(self._done(outcome))

    def _done(self, outcome: Outcome) -> Outcome:
        """The same with what can be believed of its words."""
        snapshot = outcome.round.snapshot
        sound = snapshot.end - snapshot.start
        self._pacing.took(sound, outcome.seconds)
        self.tally.add(outcome.seconds, outcome.gflops, outcome.heard.effort)
        self.log_probability = outcome.heard.mean_logprob
        outcome = replace(outcome, heard=believed(outcome.heard, self._options.believable(sound)))
        self._final.done(outcome)
        return outcome
