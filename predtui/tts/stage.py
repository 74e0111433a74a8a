"""The "tts" stage: first sentences ahead of time, committed ones released. Must not know of language models.

Nothing leaves this stage as a SpeechChunk that no ReplyCommitted has asked for: what was never verified cannot be
spoken, because playback never receives it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from predtui.errors import PredtuiError
from predtui.events import (
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
)
from predtui.settings import TtsSettings
from predtui.stage import StageContext
from predtui.tts.base import Synthesizer
from predtui.tts.speakable import speakable

KEPT_SENTENCES = 8
"""Unreleased sentences kept with their state: recognisers flip back and forth, and so do candidates."""
CHUNKS_AHEAD = 64
"""Chunks synthesised ahead at most (about 4 s of speech): enough to play while the rest is made."""


@dataclass(slots=True)
class Utterance:
    """One sentence with what is synthesised of it. ``source`` is the resumable state."""

    source: Iterator[bytes]
    chunks: list[bytes] = field(default_factory=list)
    complete: bool = False

    def pull(self) -> bytes | None:
        """The next chunk, kept as well; None at the end."""
        chunk = next(self.source, None)
        if chunk is None:
            self.complete = True
        else:
            self.chunks.append(chunk)
        return chunk


class TtsStage:
    """Synthesises SentenceAhead, releases ReplyCommitted."""

    accepts: tuple[type[Event], ...] = (SentenceAhead, ReplyCommitted, ReplyFinished, Interrupt, Baseline)
    tick: float | None = None

    def __init__(self, make: Callable[[], Synthesizer]) -> None:
        self._make = make
        self._kept: OrderedDict[str, Utterance] = OrderedDict()
        self._silenced = 0

    def open(self, context: StageContext) -> Iterator[Event]:
        self._context = context
        yield StageStatus(stage="tts", message="loading the voice")
        self._engine = self._make()
        for _ in self._engine.synthesize("ready"):
            break

    def handle(self, event: Event) -> Iterator[Event]:
        if isinstance(event, Interrupt):
            self._silenced = max(self._silenced, event.turn)
        elif isinstance(event, Baseline):
            yield from self._measure(event)
        elif event.turn > self._silenced:
            if isinstance(event, SentenceAhead):
                yield from self._ahead(event)
            elif isinstance(event, ReplyCommitted):
                yield from self._release(event)
            elif isinstance(event, ReplyFinished):
                yield SpeechEnd()

    def idle(self) -> Iterator[Event]:
        return iter(())

    def close(self) -> None:
        self._kept.clear()
        self._engine.close()

    def _utterance(self, text: str) -> Utterance:
        if text not in self._kept:
            self._kept[text] = Utterance(self._engine.synthesize(speakable(text)))
            while len(self._kept) > KEPT_SENTENCES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(text)
        return self._kept[text]

    def _ahead(self, event: SentenceAhead) -> Iterator[Event]:
        utterance = self._utterance(event.text)
        try:
            while not utterance.complete and len(utterance.chunks) < CHUNKS_AHEAD and not self._context.stale():
                utterance.pull()
        except PredtuiError as error:
            del self._kept[event.text]
            yield Notice(text=f"tts: {error}", severity="warning")
            return
        samples = sum(map(len, utterance.chunks)) / 2
        yield SpeechReady(text=event.text, seconds=samples / self._engine.rate, complete=utterance.complete)

    def _release(self, event: ReplyCommitted) -> Iterator[Event]:
        """Buffered chunks at once, then the rest out of the saved state; an empty chunk closes the sentence."""
        utterance = self._kept.pop(event.text, None) or Utterance(self._engine.synthesize(speakable(event.text)))
        try:
            for chunk in _all_chunks(utterance):
                if self._context.stale():
                    return
                yield self._chunk(event.index, chunk)
        except PredtuiError as error:
            yield Notice(text=f"tts: {error} The sentence stays unspoken.", severity="warning")
        yield self._chunk(event.index, b"", last=True)

    def _chunk(self, index: int, pcm: bytes, last: bool = False) -> SpeechChunk:
        return SpeechChunk(index=index, pcm=pcm, rate=self._engine.rate, last=last)

    def _measure(self, event: Baseline) -> Iterator[Event]:
        """The first sentence afresh, as a cascade without speculation would synthesise it."""
        start = self._context.clock.now()
        try:
            for _ in self._engine.synthesize(speakable(event.first_sentence)):
                break
        except PredtuiError:
            return
        yield BaselineSpeech(ms=(self._context.clock.now() - start) * 1000)


def _all_chunks(utterance: Utterance) -> Iterator[bytes]:
    yield from list(utterance.chunks)
    while (chunk := utterance.pull()) is not None:
        yield chunk


class Mute:
    """A synthesiser that says nothing: replies are read, not heard."""

    rate = 22050

    def synthesize(self, text: str) -> Iterator[bytes]:
        return iter(())

    def close(self) -> None:
        pass


def _espeak(options: TtsSettings) -> Synthesizer:
    from predtui.tts.espeak import EspeakSynthesizer

    return EspeakSynthesizer(options.voice, options.rate, options.pitch)


ENGINES: dict[str, Callable[[TtsSettings], Synthesizer]] = {"espeak": _espeak, "none": lambda options: Mute()}


def create(options: TtsSettings) -> TtsStage:
    return TtsStage(lambda: ENGINES[options.engine](options))
