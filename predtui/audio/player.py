"""The stage "player": sound out, barge-in. Must not know of words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from predtui.audio.devices import NO_DEVICE, switched_off, without
from predtui.audio.playback import Loudspeaker, NullLoudspeaker, Output
from predtui.clock import Clock
from predtui.errors import PredtuiError
from predtui.settings import AudioSettings
from predtui.state.events import Duck, Event, Interrupt, Notice, Playback, SpeechChunk, SpeechEnd, StageState
from predtui.state.stage import StageContext

FIRST_SAMPLE_SECONDS = 0.1
"""How long to wait for a device to take the first sample of a reply."""
LOOK_SECONDS = 5.0
"""Between two looks for a loudspeaker that has gone, while nothing is played."""


class PlayerStage:
    """SpeechChunk → sound; Playback says what the listener hears. Chunks of an interrupted turn are ignored, however
    late. Without a device the reply passes in silence at its own pace, so that a turn always ends.
    """

    accepts: tuple[type[Event], ...] = (SpeechChunk, SpeechEnd, Interrupt, Duck)
    tick: float | None = 0.1

    def __init__(self, make: Callable[[Clock], Output]) -> None:
        self._make = make
        self._turn = 0
        self._generation = (0, 0)
        self._silenced = (0, -1)
        self._state = "idle"
        self._ended = False
        self._written = 0.0
        self._sentences: list[tuple[float, int]] = []
        self._begins: dict[int, float] = {}
        self._lasts: dict[int, float] = {}
        """When each sentence begins, and how long those last that are all there, in seconds of the reply."""

    def open(self, context: StageContext) -> Iterator[Event]:
        self._clock = context.clock
        self._output = self._make(self._clock)
        self._looked = math.inf
        """When a loudspeaker that has gone was last looked for; infinite where none has."""
        if not isinstance(self._output, Loudspeaker):
            yield without("output", switched_off("output"), "starting")
            return
        try:
            self._output.open()
        except PredtuiError as error:
            yield from self._without_device(error, "starting")

    def handle(self, event: Event) -> Iterator[Event]:
        if isinstance(event, Interrupt):
            yield from self._interrupt(event)
        elif event.generation <= self._silenced:
            return
        elif isinstance(event, Duck):
            yield from self._duck(event)
        elif isinstance(event, SpeechChunk):
            yield from self._chunk(event)
        elif isinstance(event, SpeechEnd):
            yield from self._end(event)

    def idle(self) -> Iterator[Event]:
        """What is heard by now: playing, or finished once the reply has ended and the last sample is out."""
        if self._state != "playing":
            yield from self._looked_for()
            return
        if not self._output.alive:
            yield from self._without_device(PredtuiError("the loudspeaker has gone."))
        if self._ended and self._output.waiting == 0:
            self._state = "idle"
            yield self._playback("finished")
        elif self._output.waiting > 0:
            yield self._playback("playing")

    def close(self) -> None:
        self._output.close()

    def _looked_for(self) -> Iterator[Event]:
        """A loudspeaker that has gone may be there again."""
        if self._clock.now() - self._looked < LOOK_SECONDS:
            return
        self._looked = self._clock.now()
        output = self._make(self._clock)
        try:
            output.look()
        except PredtuiError:
            return
        self._output, self._looked = output, math.inf
        yield without("output", "")
        yield Notice(text="There is a loudspeaker again: replies are heard.")

    def _begin(self, event: Event) -> Iterator[Event]:
        """The first event of a reply; one that still plays gives way to it."""
        if event.turn != self._turn:
            yield from self._stop()
            yield from self._gaps()
            self._output.reset()
            self._turn, self._ended, self._written = event.turn, False, 0.0
            for kept in (self._sentences, self._begins, self._lasts):
                kept.clear()
        self._generation = max(self._generation, event.generation)

    def _gaps(self) -> Iterator[Event]:
        """The reply before ran dry on its way to the listener."""
        if isinstance(self._output, Loudspeaker) and (gaps := self._output.gaps):
            text = (
                f"The loudspeaker ran dry {gaps} time{'s' * (gaps != 1)}: the machine is busy. It keeps more sound now."
            )
            yield Notice(text=text)

    def _chunk(self, event: SpeechChunk) -> Iterator[Event]:
        yield from self._begin(event)
        begins = self._begins.setdefault(event.index, self._written)
        if event.last:
            self._lasts[event.index] = self._written + len(event.pcm) // 2 / event.rate - begins
        if event.pcm:
            yield from self._write(event)
            self._written += len(event.pcm) // 2 / event.rate
            self._sentences.append((self._written, event.index))
            if self._state == "idle":
                self._state = "playing"
                self._await_first_sample()
                yield self._playback("started")

    def _end(self, event: SpeechEnd) -> Iterator[Event]:
        yield from self._begin(event)
        self._ended = True
        self._output.finish()
        if self._state == "idle":
            yield self._playback("finished")

    def _write(self, event: SpeechChunk) -> Iterator[Event]:
        try:
            self._output.write(bytes(event.pcm), event.rate)
        except PredtuiError as error:
            yield from self._without_device(error)
            self._output.write(bytes(event.pcm), event.rate)

    def _without_device(self, error: PredtuiError, state: StageState = "ready") -> Iterator[Event]:
        played = self._output.played
        self._output.close()
        self._output = NullLoudspeaker(self._clock, played)
        self._looked = math.inf if state == "starting" else self._clock.now()
        yield without("output", str(error), state)
        yield Notice(text=f"{error} Replies are shown, not heard.", severity="warning")

    def _await_first_sample(self) -> None:
        limit = self._clock.now() + FIRST_SAMPLE_SECONDS
        while not self._output.started and self._clock.now() < limit:
            self._clock.sleep(0.001)

    def _duck(self, event: Duck) -> Iterator[Event]:
        """Where it goes on is told at once: the canceller of its echo has to know."""
        if self._state == "playing":
            self._output.play(event.level)
            yield self._playback("playing")

    def _interrupt(self, event: Interrupt) -> Iterator[Event]:
        self._silenced = max(self._silenced, event.generation, self._generation)
        yield from self._stop()

    def _stop(self) -> Iterator[Event]:
        if self._state == "playing":
            self._state = "idle"
            yield self._playback("stopped", self._output.stop())

    def _playback(self, state: str, seconds: float | None = None) -> Playback:
        played = self._output.played if seconds is None else seconds
        index = next((index for end, index in self._sentences if end > played), self._last_index)
        within = max(0.0, played - self._begins.get(index, 0.0))
        return Playback(state=state, index=index, seconds=played, within=within, of=self._lasts.get(index, 0.0))  # type: ignore[arg-type]

    @property
    def _last_index(self) -> int:
        return self._sentences[-1][1] if self._sentences else 0


def create(options: AudioSettings) -> PlayerStage:
    """The stage "player". ``options.output`` "none" plays nowhere."""

    def make(clock: Clock) -> Output:
        return NullLoudspeaker(clock) if options.output == NO_DEVICE else Loudspeaker(options.output)

    return PlayerStage(make)
