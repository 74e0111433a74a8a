"""The stage "asr": frames of a turn in, its Transcript out. Must not know of language models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from predtui.asr.base import Hypothesis, Measured, Overtaken, Recognizer, Repeating
from predtui.errors import PredtuiError
from predtui.models.published import whisper
from predtui.registry import RECOGNISERS
from predtui.settings import AsrSettings
from predtui.state.events import (
    AudioFrame,
    Baseline,
    BaselineRecognition,
    Endpoint,
    Event,
    Interrupt,
    Overheard,
    OverheardWords,
    SpeechActivity,
    StageStatus,
    Transcript,
    TurnStarted,
)
from predtui.state.stage import StageContext
from predtui.words import joined


class AsrStage:
    """One utterance a turn: it begins with TurnStarted or a turn's first frame and ends with the Endpoint, which yields
    the final Transcript, empty when nobody spoke. Typed turns are none of its business.

    Frames carry positions, so after a restart a turn's frames may be sent again: what was heard is not heard twice.
    """

    accepts: tuple[type[Event], ...] = (
        TurnStarted, AudioFrame, SpeechActivity, Endpoint, Interrupt, Baseline, Overheard,
    )  # fmt: skip
    tick: float | None = None

    def __init__(self, make: Callable[[], Recognizer]) -> None:
        self._make = make
        self._turn = 0
        self._listening = self._spoken = False
        self._position = 0
        self._last = Transcript()
        self._ending: Event | None = None
        """A pause or an end that has come and was not handled."""

    def open(self, context: StageContext) -> Iterator[Event]:
        self._context = context
        context.watch(self._arrived)
        yield StageStatus(stage="asr", message="loading the recogniser")
        self._recognizer = self._make()
        if isinstance(self._recognizer, Overtaken):
            self._recognizer.overtaken = lambda: self._ending is not None

    def handle(self, event: Event) -> Iterator[Event]:
        if event is self._ending:
            self._ending = None
        if isinstance(event, TurnStarted):
            self._begin(event.turn, listening=event.source != "typed")
        elif isinstance(event, AudioFrame):
            yield from self._frame(event)
        elif isinstance(event, SpeechActivity):
            yield from self._activity(event)
        elif isinstance(event, Endpoint):
            yield from self._end(event)
        elif isinstance(event, Overheard):
            yield from self._overheard(event)
        elif isinstance(event, Baseline):
            yield self._baseline(event)
        elif isinstance(event, Interrupt) and event.turn == self._turn:
            self._listening = False

    def idle(self) -> Iterator[Event]:
        return iter(())

    def close(self) -> None:
        self._listening = False

    def _arrived(self, event: Event) -> None:
        """Called while ``handle`` is at work."""
        if isinstance(event, Endpoint | SpeechActivity):
            self._ending = None if isinstance(event, SpeechActivity) and event.active else event

    def _begin(self, turn: int, listening: bool) -> None:
        """Known turns are not begun again: a frame may have come before the TurnStarted."""
        if turn > self._turn:
            self._turn, self._listening, self._position, self._last = turn, listening, 0, Transcript()
            self._spoken, self._ending = listening, None
            self._recognizer.start()

    def _frame(self, frame: AudioFrame) -> Iterator[Event]:
        self._begin(frame.turn, listening=True)
        if frame.turn != self._turn or not self._listening:
            return
        if frame.rate != self._recognizer.rate:
            raise PredtuiError(f"the recogniser wants {self._recognizer.rate} Hz, not {frame.rate} Hz.")
        heard = max(0, self._position - frame.position)
        pcm = bytes(frame.pcm[2 * heard :])
        self._position = max(self._position, frame.position + len(frame.pcm) // 2)
        if pcm:
            yield from self._feed(pcm, frame.voiced)

    def _activity(self, event: SpeechActivity) -> Iterator[Event]:
        """A pause is told before its frames come, which are held back for what may follow them."""
        if event.turn == self._turn and self._listening and not event.active:
            yield from self._feed(b"", voiced=False)

    def _overheard(self, frame: Overheard) -> Iterator[Event]:
        """What is said over a reply is no turn's yet: an utterance of its own."""
        if self._listening or frame.turn != self._turn:
            return
        if frame.first:
            self._recognizer.start()
            self._spoken = False
        if (new := self._recognizer.feed(bytes(frame.pcm), frame.voiced)) is not None:
            yield OverheardWords(text=joined((new.stable, new.tentative)))

    def _baseline(self, event: Baseline) -> BaselineRecognition:
        """What the last round takes where nothing is recognised ahead of the end."""
        now, recognizer = self._context.clock.now, self._recognizer
        spoken = self._spoken and event.turn == self._turn and not self._context.stale()
        start = now()
        repeated = spoken and isinstance(recognizer, Repeating) and recognizer.again()
        return BaselineRecognition(ms=(now() - start) * 1000 if repeated else None)

    def _feed(self, pcm: bytes, voiced: bool) -> Iterator[Event]:
        if (hypothesis := self._recognizer.feed(pcm, voiced)) is not None:
            yield from self._changed(hypothesis)
        yield from self._worked()

    def _worked(self) -> Iterator[Event]:
        if isinstance(self._recognizer, Measured):
            yield from self._recognizer.worked()

    def _changed(self, hypothesis: Hypothesis) -> Iterator[Event]:
        growing = hypothesis.unfinished
        new = Transcript(
            stable=hypothesis.stable, tentative=hypothesis.tentative, unfinished=growing, paused=not growing
        )
        if new.text and new != self._last:
            self._last = new
            yield new

    def _end(self, event: Endpoint) -> Iterator[Event]:
        if self._listening and event.turn == self._turn:
            self._listening = False
            yield Transcript(stable=self._recognizer.finish().stable, unfinished=False, final=True)
            yield from self._worked()
            if isinstance(self._recognizer, Measured) and (line := self._recognizer.summary()):
                yield StageStatus(stage="asr", state="ready", message=line)


def recognizer(options: AsrSettings) -> Recognizer:
    """The recogniser that ``options`` name. Raises PredtuiError where it cannot be had."""
    made: Recognizer = RECOGNISERS.factory(options.engine)(options)
    return made


def create(options: AsrSettings) -> AsrStage:
    """The stage "asr" with the engine that ``options`` name."""
    named = replace(options, model=whisper(options.model, options.engine))
    return AsrStage(lambda: recognizer(named))
