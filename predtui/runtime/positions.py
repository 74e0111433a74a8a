"""Fits what a restarted stage yields, which counts from zero again, to what its predecessor had already yielded.

The one place that knows of counts that begin anew: samples of an utterance, bytes of a sentence, seconds of a reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from predtui.state import events as ev

COUNTED = (ev.AudioFrame, ev.SpeechChunk, ev.Playback)
"""Events that carry such a count."""


@dataclass(slots=True)
class Positions:
    """How far a turn's sound has come. ``fit`` sees every ``COUNTED`` event of the turn; the other methods prepare it
    for what a restarted stage will yield."""

    heard: int = 0
    """Samples of the utterance so far."""
    heard_before: int = 0
    """Added to the positions of a microphone that began anew."""
    played_s: float = 0.0
    played_before_s: float = 0.0
    """Added to the seconds of a player that began anew."""
    said_before: dict[int, int] = field(default_factory=dict)
    """Bytes of a sentence to leave out, as they were sent before the synthesiser began it anew."""

    def fit(self, event: ev.Event) -> ev.Event | None:
        """``event`` as it continues what came before; None for sound that has come before."""
        match event:
            case ev.AudioFrame():
                return self._frame(event)
            case ev.SpeechChunk():
                return self._chunk(event)
            case ev.Playback():
                event = replace(event, seconds=event.seconds + self.played_before_s) if self.played_before_s else event
                self.played_s = max(self.played_s, event.seconds)
        return event

    def microphone_anew(self) -> None:
        """A file is played again from its start. (Who spoke must speak again.)"""
        self.heard_before = 0

    def synthesiser_anew(self, sentences: Iterable[int], chunks: Iterable[ev.SpeechChunk]) -> None:
        """These sentences will be said again from their start."""
        self.said_before = dict.fromkeys(sentences, 0)
        for chunk in chunks:
            if chunk.index in self.said_before:
                self.said_before[chunk.index] += len(chunk.pcm)

    def player_anew(self, chunks: Iterable[ev.SpeechChunk]) -> Iterator[ev.SpeechChunk]:
        """The sound after what was last reported as played."""
        self.played_before_s = skip = self.played_s
        for chunk in chunks:
            seconds = len(chunk.pcm) // 2 / chunk.rate
            if skip >= seconds and not (chunk.last and skip == 0):
                skip -= seconds
                continue
            yield replace(chunk, pcm=chunk.pcm[2 * round(skip * chunk.rate) :])
            skip = 0.0

    def _frame(self, frame: ev.AudioFrame) -> ev.AudioFrame | None:
        frame = replace(frame, position=frame.position + self.heard_before) if self.heard_before else frame
        if frame.position < self.heard:
            return None
        self.heard = frame.position + len(frame.pcm) // 2
        return frame

    def _chunk(self, chunk: ev.SpeechChunk) -> ev.SpeechChunk | None:
        skip = self.said_before.get(chunk.index, 0)
        if not skip:
            return chunk
        self.said_before[chunk.index] = max(0, skip - len(chunk.pcm))
        chunk = replace(chunk, pcm=chunk.pcm[skip:])
        return chunk if chunk.pcm or chunk.last else None
