"""WhisperFlow: streaming Whisper that keeps up (Wang, Xu and Lin, 2025). The engine of the stage "asr".

Rounds over the unpadded buffer and a hush word, decoding pruned by the round before, and, where two executors pay,
encoding of one round while the one before is being written. Hears only what voice activity detection calls speech.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from predtui.asr.base import Hypothesis
from predtui.asr.faster_whisper import credible
from predtui.asr.plain import is_caption
from predtui.asr.whisperflow.files import find_hush, find_model
from predtui.asr.whisperflow.loops import without_loops
from predtui.asr.whisperflow.mel import Samples
from predtui.asr.whisperflow.model import Encoded, Transcription, WhisperModel
from predtui.asr.whisperflow.search import Effort, Pruning
from predtui.asr.whisperflow.stream import RATE, Snapshot, Stream
from predtui.settings import AsrSettings
from predtui.state.events import Work

SETTLED_SECONDS = 0.4
"""Rounds so soon after each other agree on half a word too: the newest one is stable so long after its end, the others
at once."""
AGREEING_ROUNDS = 3
"""How many have to agree: two of them, so close to each other, agree on a phrase written twice as well."""
HOLD_SECONDS = 3.0
"""What a large model wrote of the newest sound it often writes otherwise once more is said, and in agreement with
itself until then: it knows many words, and guesses."""
LAST_SHARE = 4
"""A large model hears a sound that has ended in a window of so small a part of the one it was trained on, or longer:
nearly as right as in the whole of it, and much sooner."""
SHARE = 0.5
"""Of the time, at most so much goes to rounds: the language model wants the same cores."""
_NOTHING: Samples = np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class FlowOptions:
    """``step``: seconds of sound between rounds, at least. ``buffer``: seconds after which it is cut; some of the
    window is kept free. ``settled``: how long before the end of the sound the newest stable word ends; ``hold``: every
    one. ``tail``: samples after every sound, the hush word; ``pad_to``: frames to pad to, 0 for none; ``pad_last_to``:
    those of a round over a sound that has ended, which may be the last word on it. ``pipelined``: encoding and writing
    are two executors, the first of which writes ``exchange`` tokens before it hands over (section 4.3.2)."""

    step: float = AsrSettings().step
    buffer: float = 15.0
    rounds: int = 2
    settled: float = 0.0
    hold: float = 0.0
    beam: int = 5
    pruning: Pruning = "forward"
    tail: Samples = field(default_factory=lambda: _NOTHING)
    pad_to: int = 0
    pad_last_to: int = 0
    pipelined: bool = False
    exchange: int = 0

    def padding(self, ended: bool) -> int:
        """Frames to pad to, where the sound has ``ended`` and where it has not."""
        return max(self.pad_to, self.pad_last_to) if ended else self.pad_to


class Written(Protocol):
    """What the engine needs of a Writing."""

    def step(self) -> bool: ...

    def advance(self, tokens: float) -> None: ...

    def heard(self) -> Transcription: ...


class Model(Protocol):
    """What the engine needs of a WhisperModel."""

    @property
    def seconds(self) -> float: ...

    def encode(self, samples: Samples, tail: Samples, pad_to: int = 0) -> Encoded: ...

    def begin(
        self, encoded: Encoded, prompt: str, reference: tuple[int, ...], beam: int = 5, pruning: Pruning = "forward"
    ) -> Written: ...


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


def make_stream(model: Model, options: FlowOptions) -> Stream:
    """An empty stream whose sounds, with the tail, fit into the model's window."""
    room = model.seconds - len(options.tail) / RATE
    return Stream(min(options.buffer, 0.7 * room), 0.95 * room, options.rounds, options.settled, options.hold)


def sure(heard: Transcription) -> Transcription:
    """``heard`` without phrases written twice, or nothing where its words are an invention over silence, or a loop of
    which no time tells what was said."""
    spoken = without_loops(heard.spoken)
    compression = heard.compression if len(spoken) == len(heard.spoken) else 0.0
    caption = is_caption(one.word.text for one in spoken)
    if not caption and credible(heard.no_speech, heard.mean_log_probability, compression):
        return replace(heard, spoken=spoken)
    return Transcription((), heard.no_speech, heard.mean_log_probability, 0.0, heard.effort)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a round is over: a sound that has ``ended`` or not, with what the round before wrote for it."""

    snapshot: Snapshot
    reference: tuple[int, ...]
    ended: bool


@dataclass(frozen=True, slots=True)
class _Round:
    """A round under way in the executors, begun at second ``begun``."""

    asked: Asked
    begun: float
    opened: Future[tuple[Encoded, Written]]
    heard: Future[Transcription]


class FlowRecognizer:
    """Recognizer over a WhisperModel. ``now``: seconds, to pace the rounds."""

    rate = RATE

    def __init__(self, model: Model, options: FlowOptions, now: Callable[[], float] = time.monotonic) -> None:
        self._model, self._options, self._now = model, options, now
        self._executors = [ThreadPoolExecutor(1, name) for name in ("encode", "write")] if options.pipelined else []
        self._rounds: deque[_Round] = deque()
        self._work: deque[Work] = deque()
        self.overtaken: Callable[[], bool] = lambda: False
        """As ``Overtaken`` says."""
        self.start()

    def start(self) -> None:
        self._rounds.clear()
        self._work.clear()
        self._stream = make_stream(self._model, self._options)
        self._last = Hypothesis()
        self._step = self._options.step
        self.log_probability: float | None = None
        """Mean over the tokens of the last round; None before the first."""
        self._latest: tuple[Asked, Transcription] | None = None
        """The last round, and what was heard in it, where it would be no other at the sound's end."""
        self._known = 0.0
        """Seconds that a round was begun over which would be no other, were they all."""
        self.tally = Tally()

    def feed(self, pcm: bytes, voiced: bool) -> Hypothesis | None:
        """A pause brings a round at once, and completes the last word."""
        stream = self._stream
        if voiced:
            stream.hear(np.frombuffer(pcm, dtype="<i2").astype(np.float32) / 32768.0)
        self._collect(wait=False)
        due = stream.unseen >= self._step and not (voiced and self.overtaken())
        if due or (not voiced and stream.heard > self._known):
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
            known = self._latest and self._latest[0].snapshot
            if not known or (known.start, known.end) != (snapshot.start, snapshot.end):
                self._hear(self._asked(snapshot, ended=True))
            if self._latest:
                self._stream.take(snapshot, self._latest[1], last=True)
        return self._stream.hypothesis(unfinished=False)

    def again(self) -> bool:
        """As ``Repeating`` says."""
        if self._latest is None:
            return False
        _, writing = self._begun(self._latest[0])
        writing.heard()
        return True

    def worked(self) -> list[Work]:
        """Encoding and writing, a round each; the executors go on adding."""
        return [self._work.popleft() for _ in range(len(self._work))]

    def summary(self) -> str:
        """Mean delay of a word, and the rounds' time by the sound's."""
        delays, heard = self._stream.delays, self._stream.heard
        if not delays:
            return ""
        mean = 1000 * sum(delays) / len(delays) + 1000 * self.tally.seconds / max(1, self.tally.rounds)
        return f"a word after {mean:.0f} ms, {self.tally.seconds / heard:.2f} of real time"

    def _begin(self, ended: bool) -> None:
        if self._executors:
            self._submit(ended)
            return
        asked = self._asked(self._stream.snapshot(), ended)
        begun = self._now()
        if (heard := self._hear(asked)) is None:
            return
        self._stream.take(asked.snapshot, heard)
        self._step = max(self._options.step, (self._now() - begun) / SHARE)

    def _asked(self, snapshot: Snapshot, ended: bool) -> Asked:
        if self._as_last(ended):
            self._known = snapshot.end
        return Asked(snapshot, self._stream.reference(snapshot), ended)

    def _as_last(self, ended: bool) -> bool:
        """Whether a round hears a sound as the last one would, that has ``ended`` or has not."""
        return self._options.padding(ended) == self._options.padding(ended=True)

    def _hear(self, asked: Asked) -> Transcription | None:
        """None where it was overtaken."""
        begun = self._now()
        encoded, writing = self._open(asked)
        if not asked.ended and not self._written(writing):
            self._known = 0.0
            return None
        heard = self._write(writing)
        self.tally.add(self._now() - begun, encoded.gflops, heard.effort)
        return self._done(asked, heard)

    def _done(self, asked: Asked, heard: Transcription) -> Transcription:
        """What is credible of a round, which is remembered for the end."""
        self.log_probability = heard.mean_log_probability
        believed = sure(heard)
        self._latest = (asked, believed) if self._as_last(asked.ended) else None
        return believed

    def _open(self, asked: Asked) -> tuple[Encoded, Written]:
        """What the first executor does."""
        begun = self._now()
        encoded, writing = self._begun(asked)
        writing.advance(self._options.exchange)
        self._work.append(Work(stage="encode", start=begun, end=self._now()))
        return encoded, writing

    def _begun(self, asked: Asked) -> tuple[Encoded, Written]:
        options, snapshot = self._options, asked.snapshot
        encoded = self._model.encode(snapshot.samples, options.tail, options.padding(asked.ended))
        return encoded, self._model.begin(encoded, snapshot.prompt, asked.reference, options.beam, options.pruning)

    def _written(self, writing: Written) -> bool:
        """Whether all is written; False where a pause or the end has come before."""
        begun = self._now()
        done = False
        while not done and not self.overtaken():
            done = writing.step()
        if not done:
            self._work.append(Work(stage="write", start=begun, end=self._now()))
        return done

    def _write(self, writing: Written) -> Transcription:
        """What the second executor does."""
        begun = self._now()
        heard = writing.heard()
        self._work.append(Work(stage="write", start=begun, end=self._now()))
        return heard

    def _submit(self, ended: bool) -> None:
        """A round into the executors, unless the first is still busy with the newest one (section 4.3)."""
        if self._rounds and not self._rounds[-1].opened.done():
            return
        asked, (encoding, writing) = self._asked(self._stream.snapshot(), ended), self._executors
        opened = encoding.submit(self._open, asked)
        heard = writing.submit(lambda: self._write(opened.result()[1]))
        self._rounds.append(_Round(asked, self._now(), opened, heard))

    def _collect(self, wait: bool) -> None:
        """The words of the rounds that are done; ``wait``: of all."""
        while self._rounds and (wait or self._rounds[0].heard.done()):
            one = self._rounds.popleft()
            heard = one.heard.result()
            self.tally.add(self._now() - one.begun, one.opened.result()[0].gflops, heard.effort)
            self._stream.take(one.asked.snapshot, self._done(one.asked, heard))


def load(settings: AsrSettings) -> tuple[WhisperModel, FlowOptions]:
    """The model that ``settings`` name and how it is used. Without a hush word of its own every sound is padded to the
    window, which is slower and never wrong. Raises PredtuiError where there is no such model."""
    folder = find_model(settings)
    model = WhisperModel(folder, settings.threads, settings.language)
    hush = find_hush(folder)
    options = FlowOptions(
        step=settings.step,
        beam=settings.beam,
        tail=_NOTHING if hush is None else hush,
        pad_to=model.window if hush is None else 0,
        pipelined=settings.pipelined,
        exchange=settings.exchange,
    )
    options = agreeing(options, model)
    _warm(model, options)
    return model, options


def agreeing(options: FlowOptions, model: WhisperModel) -> FlowOptions:
    """``options`` with what makes a word of ``model`` stable, and the window of its last round."""
    return replace(
        options,
        rounds=AGREEING_ROUNDS,
        settled=SETTLED_SECONDS,
        hold=HOLD_SECONDS if model.large else 0.0,
        pad_last_to=model.window // LAST_SHARE if model.large else 0,
    )


def _warm(model: Model, options: FlowOptions) -> None:
    """A round over half a second of silence, in each window: the first sound takes a process up to forty times as long
    as the next."""
    for ended in {options.padding(ended): ended for ended in (False, True)}.values():
        encoded = model.encode(np.zeros(RATE // 2, np.float32), options.tail, options.padding(ended))
        model.begin(encoded, "", (), options.beam, options.pruning).heard()
