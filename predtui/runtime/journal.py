"""The log of the current turn's events. A restarted stage is given those of them that it takes and has not answered, so
that it goes on where its predecessor ended. Knows stages by name only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from predtui.runtime.positions import COUNTED, Positions
from predtui.state import events as ev

ANSWERS: dict[type[ev.Event], tuple[str, tuple[type[ev.Event], ...]]] = {
    ev.Endpoint: ("mic", (ev.Listen,)),
    ev.BaselineRecognition: ("asr", (ev.Baseline,)),
    ev.ReplyFinished: ("llm", (ev.TurnStarted, ev.Transcript)),
    ev.Baseline: ("llm", (ev.MeasureBaseline,)),
    ev.ReplyCommitted: ("tts", (ev.SentenceAhead,)),
    ev.SpeechEnd: ("tts", (ev.SentenceAhead, ev.ReplyCommitted, ev.ReplyFinished)),
    ev.BaselineSpeech: ("tts", (ev.Baseline,)),
}
"""What of a stage's input is over and done with for it, once such an event has come. Those that depend on what an event
says stand in ``_answered``."""
_HEARD = (ev.TurnStarted, ev.AudioFrame, ev.SpeechActivity, ev.Endpoint)
_STATES = (ev.SpeechActivity, ev.Configure)
"""Of these, too, only the last counts."""
_OVER = (ev.SoundLevel, ev.Overhear, ev.Overheard, ev.OverheardWords, ev.Duck)
_PASSING = (ev.StageStatus, ev.Work, ev.Tick, ev.Usage, ev.Energy, ev.Notice, ev.LookForDevice, *_OVER)
"""Not kept: no part of any stage's state."""


class Journal:
    """Fed every admitted event; asked what a stage has to be given that is ready again."""

    def __init__(self) -> None:
        self._begin(())

    def enter(self, event: ev.Event) -> ev.Event | None:
        """Keep ``event``; return it as it should be passed on, or None for sound that was passed on before."""
        fitted = self._positions.fit(event) if isinstance(event, COUNTED) else event
        if fitted is None:
            return None
        if isinstance(fitted, ev.TurnStarted | ev.Interrupt | ev.Resumed):
            self._begin(kept for kept in list(self._log.values()) if isinstance(kept, ev.Configure))
        if not isinstance(fitted, (ev.Interrupt, ev.Resumed, *_PASSING)):
            for stage, kinds in _answered(fitted):
                self._settle(stage, kinds, self._count)
            if isinstance(fitted, ev.SpeechChunk) and fitted.last:
                self._settle("tts", (ev.ReplyCommitted,), self._after_sentence(fitted.index))
            self._append(fitted)
        return fitted

    def resend(self, stage: str, accepts: Callable[[ev.Event], bool]) -> list[ev.Event]:
        """What the stage must be given, in order. Call it once a restart: it prepares for what the stage will yield."""
        events = [event for number, event in self._log.items() if accepts(event) and self._open(stage, number, event)]
        chunks = [event for event in self._log.values() if isinstance(event, ev.SpeechChunk)]
        match stage:
            case "mic":
                self._positions.microphone_anew()
            case "tts":
                sentences = [event.index for event in events if isinstance(event, ev.ReplyCommitted)]
                self._positions.synthesiser_anew(sentences, chunks)
            case "player":
                rest = [event for event in events if not isinstance(event, ev.SpeechChunk)]
                events = [*self._positions.player_anew(chunks), *rest]
        return events

    def _begin(self, kept: Iterator[ev.Event] | tuple[()]) -> None:
        self._positions = Positions()
        self._count = 0
        self._log: dict[int, ev.Event] = {}
        self._latest: dict[type[ev.Event], int] = {}
        self._settled: dict[tuple[str, type[ev.Event]], int] = {}
        for event in kept:
            self._append(event)

    def _append(self, event: ev.Event) -> None:
        """A newer state takes the place of an older one, as in an inbox."""
        kind = type(event)
        superseded = self._latest.pop(kind, None)
        if superseded is not None:
            del self._log[superseded]
        if event.replaceable or isinstance(event, _STATES):
            self._latest[kind] = self._count
        self._log[self._count] = event
        self._count += 1

    def _open(self, stage: str, number: int, event: ev.Event) -> bool:
        return number >= self._settled.get((stage, type(event)), 0)

    def _settle(self, stage: str, kinds: tuple[type[ev.Event], ...], before: int) -> None:
        self._settled.update({(stage, kind): before for kind in kinds})
        if sounds := {ev.AudioFrame, ev.SpeechChunk}.intersection(kinds):  # each is for one stage, and they are many
            self._log = {number: event for number, event in self._log.items() if type(event) not in sounds}

    def _after_sentence(self, index: int) -> int:
        """The number of the event after the commit of sentence ``index``."""
        return next(
            (
                number + 1
                for number, event in self._log.items()
                if isinstance(event, ev.ReplyCommitted) and event.index == index
            ),
            0,
        )


def _answered(event: ev.Event) -> Iterator[tuple[str, tuple[type[ev.Event], ...]]]:
    """Which stage need not be given what any more, now that ``event`` has come."""
    if type(event) in ANSWERS:
        yield ANSWERS[type(event)]
    if isinstance(event, ev.Transcript) and event.final:
        yield "asr", _HEARD
    if isinstance(event, ev.Playback) and event.state in ("finished", "stopped"):
        yield "player", (ev.SpeechChunk, ev.SpeechEnd)
