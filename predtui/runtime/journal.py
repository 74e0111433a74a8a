"""What a restarted stage must be told again, so that the turn goes on from its last state. Knows stages by name only.

Keeps the events of the current turn that a stage's state is made of, and fits what a restarted stage yields to what its
predecessor already yielded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from predtui.state import events as ev


@dataclass(slots=True)
class _Record:
    """The current turn as stages were told it."""

    started: ev.TurnStarted | None = None
    listen: ev.Listen | None = None
    frames: list[ev.AudioFrame] = field(default_factory=list)
    endpoint: ev.Endpoint | None = None
    transcript: ev.Transcript | None = None
    ahead: ev.SentenceAhead | None = None
    committed: list[ev.ReplyCommitted] = field(default_factory=list)
    finished: ev.ReplyFinished | None = None
    chunks: list[ev.SpeechChunk] = field(default_factory=list)
    speech_end: ev.SpeechEnd | None = None
    played_s: float = 0.0
    over: bool = False
    """Interrupted, or played to its end."""
    measure: ev.MeasureBaseline | None = None
    baseline: ev.Baseline | None = None
    hearing: ev.Baseline | None = None
    """Measurements asked for and not yet answered."""

    next_position: int = 0
    """Samples of the utterance seen so far."""
    position_base: int = 0
    """Added to the positions of a microphone that began anew."""
    played_base_s: float = 0.0
    """Added to the seconds of a player that began anew."""
    skip: dict[int, int] = field(default_factory=dict)
    """Bytes of a sentence to leave out, as they were sent before the synthesiser began it anew."""


class Journal:
    """Fed every admitted event through ``fit``; asked by ``resend`` when a stage is ready again."""

    def __init__(self) -> None:
        self._record = _Record(over=True)
        self._configure: ev.Configure | None = None
        self._fold: dict[type[ev.Event], Callable[[ev.Event], ev.Event | None]] = {
            ev.AudioFrame: self._frame,
            ev.SpeechChunk: self._chunk,
            ev.Playback: self._playback,
        }

    def fit(self, event: ev.Event) -> ev.Event | None:
        """Remember ``event``; return it as it should be passed on, or None for what was passed on before."""
        special = self._fold.get(type(event))
        if special:
            return special(event)
        record = self._record
        match event:
            case ev.TurnStarted():
                self._record = _Record(started=event)
            case ev.Configure():
                self._configure = event
            case ev.Listen():
                record.listen = event
            case ev.Endpoint():
                record.endpoint, record.listen = event, None
            case ev.Transcript():
                record.transcript = event
                if event.final:
                    record.frames.clear()
            case ev.SentenceAhead():
                record.ahead = event
            case ev.ReplyCommitted():
                record.committed.append(event)
            case ev.ReplyFinished():
                record.finished = event
            case ev.SpeechEnd():
                record.speech_end = event
            case ev.MeasureBaseline():
                record.measure = event
            case ev.Baseline():
                record.measure, record.baseline, record.hearing = None, event, event
            case ev.BaselineSpeech():
                record.baseline = None
            case ev.BaselineRecognition():
                record.hearing = None
            case ev.Interrupt():
                self._record = _Record(over=True)
        return event

    def resend(self, stage: str) -> list[ev.Event]:
        """What the stage must be told, in order. Call it once a restart: it prepares ``fit`` for what will come."""
        events: list[ev.Event | None] = []
        if stage == "llm":
            events.extend([self._configure, self._record.measure])
        if stage == "tts":
            events.append(self._record.baseline)
        if stage == "asr":
            events.append(self._record.hearing)
        if not self._record.over:
            makers = {"mic": self._mic, "asr": self._asr, "llm": self._llm, "tts": self._tts, "player": self._player}
            events.extend(makers.get(stage, list)())
        return [event for event in events if event is not None]

    def _mic(self) -> list[ev.Event | None]:
        record = self._record
        if record.listen:
            record.position_base = 0 if record.listen.path else record.next_position
        return [record.listen]

    def _asr(self) -> list[ev.Event | None]:
        record = self._record
        if record.transcript and record.transcript.final:
            return []
        return [record.started, *record.frames, record.endpoint]

    def _llm(self) -> list[ev.Event | None]:
        return [] if self._record.finished else [self._record.started, self._record.transcript]

    def _tts(self) -> list[ev.Event | None]:
        record = self._record
        if record.speech_end:
            return []
        closed = {chunk.index for chunk in record.chunks if chunk.last}
        unspoken = [event for event in record.committed if event.index not in closed]
        record.skip = {
            event.index: sum(len(chunk.pcm) for chunk in record.chunks if chunk.index == event.index)
            for event in unspoken
        }
        return [None if record.committed else record.ahead, *unspoken, record.finished]

    def _player(self) -> list[ev.Event | None]:
        """The chunks from what was last reported as played."""
        record = self._record
        record.played_base_s = skip = record.played_s
        rest: list[ev.Event | None] = []
        for chunk in record.chunks:
            seconds = len(chunk.pcm) // 2 / chunk.rate
            if skip >= seconds and not (chunk.last and skip == 0):
                skip -= seconds
                continue
            rest.append(replace(chunk, pcm=chunk.pcm[2 * round(skip * chunk.rate) :]))
            skip = 0.0
        return [*rest, record.speech_end]

    def _frame(self, event: ev.Event) -> ev.Event | None:
        assert isinstance(event, ev.AudioFrame)
        record = self._record
        frame = replace(event, position=event.position + record.position_base) if record.position_base else event
        if frame.position < record.next_position:
            return None
        record.next_position = frame.position + len(frame.pcm) // 2
        record.frames.append(frame)
        return frame

    def _chunk(self, event: ev.Event) -> ev.Event | None:
        assert isinstance(event, ev.SpeechChunk)
        record = self._record
        skip = record.skip.get(event.index, 0)
        if skip:
            record.skip[event.index] = max(0, skip - len(event.pcm))
            event = replace(event, pcm=event.pcm[skip:])
            if not event.pcm and not event.last:
                return None
        record.chunks.append(event)
        return event

    def _playback(self, event: ev.Event) -> ev.Event | None:
        assert isinstance(event, ev.Playback)
        record = self._record
        if record.played_base_s:
            event = replace(event, seconds=event.seconds + record.played_base_s)
        record.played_s = max(record.played_s, event.seconds)
        record.over = record.over or event.state in ("finished", "stopped")
        return event
