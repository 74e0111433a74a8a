"""The "tts" stage: first sentences ahead of time, committed ones released. Must not know of language models.

Nothing leaves this stage as a SpeechChunk that no ReplyCommitted has asked for: what was never verified cannot be
spoken, because playback never receives it. Where the engine fails, another speaks in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from predtui.errors import PredtuiError
from predtui.llm.base import Counters
from predtui.registry import SYNTHESISERS
from predtui.settings import TtsSettings
from predtui.state.events import (
    Baseline,
    BaselineSpeech,
    Event,
    Interrupt,
    Notice,
    ReplyCommitted,
    ReplyFinished,
    SentenceAhead,
    SpeechChunk,
    SpeechEnd,
    SpeechReady,
    StageStatus,
    Synthesis,
    TurnStarted,
)
from predtui.state.stage import StageContext
from predtui.tts.ahead import SoundAhead
from predtui.tts.base import NeuralSynthesizer, Synthesizer
from predtui.tts.cache import SpeechCache, Utterance
from predtui.tts.marks import Alignment, MarkedSound
from predtui.tts.pronunciations import user_file
from predtui.tts.script import Script

CHUNKS_AHEAD = TtsSettings().ahead
MEMORY_MB = TtsSettings().memory
SPARE = "espeak"
"""The engine that speaks where another fails."""


class TtsStage:
    """Synthesises SentenceAhead while nothing else is to be done, releases ReplyCommitted."""

    accepts: tuple[type[Event], ...] = (TurnStarted, SentenceAhead, ReplyCommitted, ReplyFinished, Interrupt, Baseline)
    """Of TurnStarted the arrival counts alone: it makes the measurement of the turn before stale, and the user's
    pronunciations are looked at again."""
    tick: float | None = None

    def __init__(
        self,
        make: Callable[[], Synthesizer],
        make_spare: Callable[[], Synthesizer] | None = None,
        ahead: int = CHUNKS_AHEAD,
        memory_mb: int = MEMORY_MB,
        script: Script | None = None,
    ) -> None:
        """``make_spare`` makes the engine that speaks where the first fails. ``ahead``: chunks made of an unreleased
        sentence at most, enough to play while the rest is made (PredGen, appendix A.5). ``script``: what an engine is
        given to say."""
        self._script = script or Script()
        self._make, self._make_spare = make, make_spare
        self._kept = SpeechCache(memory_mb * 2**20)
        self._ahead = SoundAhead(ahead, self._found)
        self._limit = ahead
        self._making: tuple[str, Utterance] | None = None
        """The sentence that is worked on, which is kept once another is."""
        self._silenced = 0
        self._before: Utterance | None = None
        """The sentence of this reply that was released last."""
        self._work_s = self._speech_s = 0.0
        self._released = 0

    def open(self, context: StageContext) -> Iterator[Event]:
        self._context = context
        yield StageStatus(stage="tts", message="loading the voice")
        try:
            self._engine = self._make()
            next(self._engine.synthesize("ready"), None)
        except PredtuiError as error:
            if self._make_spare is None:
                raise
            self._engine, self._make_spare = self._make_spare(), None
            yield Notice(text=f"tts: {error} eSpeak NG speaks instead.", severity="warning")
            yield StageStatus(stage="tts", message=f"eSpeak NG speaks instead: {error}", lacks="voice", progress=1.0)
        self._script.text("1", self._engine)  # what it takes to say numbers is imported before the first of them
        yield from self._refreshed()
        if isinstance(self._engine, NeuralSynthesizer):
            yield StageStatus(stage="tts", message=self._engine.title, progress=1.0)
            if self._engine.advice:
                yield Notice(text=f"tts: {self._engine.advice}", severity="warning")

    def handle(self, event: Event) -> Iterator[Event]:
        if isinstance(event, TurnStarted):
            self._want()
            yield from self._refreshed()
        elif isinstance(event, Interrupt):
            self._want()
            self._silenced = max(self._silenced, event.turn)
        elif isinstance(event, Baseline):
            yield from self._measure(event)
        elif event.turn > self._silenced:
            if isinstance(event, SentenceAhead):
                self._want(event.text, *event.others)
            elif isinstance(event, ReplyCommitted):
                yield from self._release(event)
            elif isinstance(event, ReplyFinished):
                yield SpeechEnd()

    def idle(self) -> Iterator[Event]:
        """A step of the sound that is made ahead: about a forward of a network."""
        sentence = self._ahead.next()
        if sentence is None:
            self._park()
            self.tick = None
        else:
            yield from self._step(sentence)

    def close(self) -> None:
        self._making = None
        self._kept.clear()
        self._engine.close()

    def _want(self, *sentences: str) -> None:
        """Make sound of these ahead from now on."""
        self._park()
        self._ahead.want(sentences)
        self.tick = 0.0 if sentences else None

    def _found(self, sentence: str) -> Utterance | None:
        """What there is of it."""
        if self._making and self._making[0] == sentence:
            return self._making[1]
        return self._kept.get(sentence)

    def _taken(self, sentence: str) -> Utterance | None:
        """What there is of it, which is no longer kept; what was worked on instead is."""
        if self._making and self._making[0] == sentence:
            (_, utterance), self._making = self._making, None
            return utterance
        self._park()
        return self._kept.take(sentence)

    def _park(self) -> None:
        """Keep what is worked on."""
        if self._making:
            (sentence, utterance), self._making = self._making, None
            self._kept.put(sentence, utterance, likely=not self._ahead.second(sentence))

    def _refreshed(self) -> Iterator[Event]:
        if problem := self._script.refresh():
            yield Notice(text=f"tts: {problem}", severity="warning")

    def _by_spare(self, make: Callable[[], Synthesizer], sentence: str) -> Utterance:
        """The whole sentence, by the engine that stands in."""
        engine = make()
        return Utterance(engine, self._script.text(sentence, engine))

    def _step(self, sentence: str) -> Iterator[Event]:
        """Pull once, and tell of a first sound and of all that is made ahead."""
        utterance = self._taken(sentence) or Utterance(self._engine, self._script.text(sentence, self._engine))
        self._making, before = (sentence, utterance), self._work_s
        try:
            chunk = self._pull(utterance)
        except PredtuiError as error:
            yield from self._left_to_spare(sentence, error)
            return
        second, chunks = self._ahead.second(sentence), len(utterance.chunks)
        if second:
            self._ahead.instead.spent(self._work_s - before)
        if (chunk and chunks in (1, self._limit)) or utterance.complete:
            yield SpeechReady(text=sentence, seconds=utterance.seconds, complete=utterance.complete, chunks=chunks)
            if not second:
                yield self._synthesis(chunks)

    def _left_to_spare(self, sentence: str, error: PredtuiError) -> Iterator[Event]:
        """What the engine cannot say is made when it is to be spoken."""
        self._making = None
        self._ahead.give_up(sentence)
        yield Notice(text=f"tts: {error}", severity="warning")
        if self._make_spare is not None:
            self._kept.put(sentence, self._by_spare(self._make_spare, sentence))
            yield SpeechReady(text=sentence)

    def _release(self, event: ReplyCommitted) -> Iterator[Event]:
        """Buffered chunks at once, then the rest out of the saved state; an empty chunk closes the sentence."""
        second, utterance = self._ahead.second(event.text), self._taken(event.text)
        if event.index == 0:
            self._before, self._released = None, 0
            self._ahead.instead.spoken(utterance.first_s if second and utterance else 0.0)
            self._want()
            self._kept.doubt()
        utterance = utterance or self._begun(event.text)
        try:
            yield from self._spoken(utterance, event)
        except PredtuiError as error:
            yield from self._spoken_by_spare(event, error)
        if not self._context.stale():
            yield SpeechChunk(index=event.index, rate=self._engine.rate, last=True)
            yield self._synthesis(0)

    def _spoken(self, utterance: Utterance, event: ReplyCommitted) -> Iterator[Event]:
        """Raises PredtuiError where the engine fails on the way."""
        ready, told, alignment = len(utterance.chunks), False, Alignment(utterance.text, event.text)
        for chunk in self._all_chunks(utterance):
            if self._context.stale():
                return
            if chunk:
                if not told:
                    yield self._synthesis(ready)
                self._released, told = self._released + 1, True
                marks = chunk.words if isinstance(chunk, MarkedSound) else ()
                words = tuple(map(alignment.written, marks))
                yield SpeechChunk(index=event.index, pcm=bytes(chunk), rate=utterance.engine.rate, words=words)
        utterance.park()
        self._before = utterance

    def _spoken_by_spare(self, event: ReplyCommitted, error: PredtuiError) -> Iterator[Event]:
        """The whole sentence once more by the engine that stands in; a sentence broken off would mislead."""
        try:
            if self._make_spare is None:
                raise error
            yield Notice(text=f"tts: {error} eSpeak NG says this sentence.", severity="warning")
            yield from self._spoken(self._by_spare(self._make_spare, event.text), event)
        except PredtuiError as last:
            yield Notice(text=f"tts: {last} The sentence stays unspoken.", severity="warning")

    def _begun(self, sentence: str) -> Utterance:
        """Nothing of it is made yet. It follows the sentence before where that was this engine's."""
        before = self._before
        carried = before.state if before and before.engine is self._engine else None
        return Utterance(self._engine, self._script.text(sentence, self._engine), carried)

    def _all_chunks(self, utterance: Utterance) -> Iterator[bytes]:
        yield from list(utterance.chunks)
        while not utterance.complete and (chunk := self._pull(utterance)) is not None:
            yield chunk

    def _pull(self, utterance: Utterance) -> bytes | None:
        """``utterance.pull``, timed."""
        start = self._context.clock.now()
        chunk = utterance.pull()
        seconds = self._context.clock.now() - start
        self._work_s += seconds
        if len(utterance.chunks) <= 1:
            utterance.first_s += seconds
        if chunk:
            self._speech_s += len(chunk) / 2 / utterance.engine.rate
        return chunk

    def _synthesis(self, ready: int) -> Synthesis:
        counters = self._engine.counters if isinstance(self._engine, NeuralSynthesizer) else Counters()
        return Synthesis(
            ready=ready,
            released=self._released,
            real_time_factor=self._work_s / self._speech_s if self._speech_s else 0.0,
            forwards=counters.forwards,
            positions=counters.tokens,
        )

    def _measure(self, event: Baseline) -> Iterator[Event]:
        """The first sentence afresh, as a cascade without speculation would synthesise it."""
        if self._context.stale():
            return
        start = self._context.clock.now()
        try:
            for chunk in self._engine.synthesize(self._script.text(event.first_sentence, self._engine)):
                if self._context.stale():
                    return
                if chunk:
                    break
        except PredtuiError:
            return
        yield BaselineSpeech(ms=(self._context.clock.now() - start) * 1000)


def synthesizer(options: TtsSettings) -> Synthesizer:
    """The synthesiser that ``options`` name. Raises PredtuiError where it cannot be had."""
    made: Synthesizer = SYNTHESISERS.factory(options.engine)(options)
    return made


def spare_of(options: TtsSettings) -> TtsSettings:
    """The same with eSpeak NG, which knows no other engine's voices: one of the language, where it has one."""
    if options.engine == SPARE:
        return options
    named = options.voice if options.engine == "zonos" else options.language
    spare = replace(options, engine=SPARE, voice=named)
    try:
        synthesizer(spare).close()
    except PredtuiError:
        return replace(spare, voice=TtsSettings().voice)
    return spare


def create(options: TtsSettings) -> TtsStage:
    """The stage of the settings; eSpeak NG stands in for any other engine."""
    spare = None if options.engine == SPARE else lambda: synthesizer(spare_of(options))
    return TtsStage(
        lambda: synthesizer(options), spare, options.ahead, options.memory, Script(user_file(), options.language)
    )
