"""The stages "mic" (sound in, voice activity, end of turn) and "player" (sound out, barge-in). No words here."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from predtui.audio.playback import NullSpeaker, Output, Speaker
from predtui.audio.resample import FRAME, RATE
from predtui.audio.sources import FileSource, Microphone, NullSource, Source
from predtui.audio.vad import Endpointer, Energy, Padding, Silero, VoiceActivity
from predtui.clock import Clock
from predtui.errors import PredtuiError
from predtui.settings import AudioSettings
from predtui.state.events import (
    AudioFrame,
    Endpoint,
    Event,
    Interrupt,
    Listen,
    LookForDevice,
    Notice,
    Playback,
    SpeechActivity,
    SpeechChunk,
    SpeechEnd,
    StageState,
    StageStatus,
)
from predtui.state.stage import StageContext

NO_DEVICE = "none"
PAUSE_SECONDS = 0.064
"""Quiet after speech that is told of as a pause. Speech that goes on has such gaps too, about one in two seconds: the
recogniser's round that a pause brings is then one like others."""
OFF = "the {} is switched off. Name one in the setting {}, or leave that empty for the default."
FIRST_SAMPLE_SECONDS = 0.1
"""How long to wait for a device to take the first sample of a reply."""


class MicrophoneStage:
    """Listen → AudioFrame until an Endpoint or Interrupt makes it stale, silence ends a hands-free turn, or the file
    does. Frames of a turn have contiguous positions. A failing device ends the turn, so that what was said is kept; the
    next Listen tries again.
    """

    accepts: tuple[type[Event], ...] = (Listen, Endpoint, Interrupt, LookForDevice)
    tick: float | None = None

    def __init__(self, silence_ms: int, make_live: Callable[[Clock], Source], off: str = "") -> None:
        """``off``: says so where it was chosen to hear nothing live."""
        self._silence_ms = silence_ms
        self._make_live = make_live
        self._off = off

    def open(self, context: StageContext) -> Iterator[Event]:
        """A missing microphone is a notice, not a failure: files and typing work without one."""
        self._context = context
        self._live = self._make_live(context.clock)
        try:
            self._activity = VoiceActivity(Silero())
        except PredtuiError as error:
            self._activity = VoiceActivity(Energy())
            yield Notice(text=f"{error} Loudness decides instead.", severity="warning")
        if missing := self._missing():
            yield _without("microphone", missing, "starting")
            if not self._off:
                yield Notice(text=f"{missing} Typing and sound files work.", severity="warning")

    def handle(self, event: Event) -> Iterator[Event]:
        if isinstance(event, LookForDevice):
            yield _without("microphone", self._missing())
        if not isinstance(event, Listen):
            return  # its arrival has made the Listen before it stale, which is all it is for
        source = FileSource(event.path, self._context.clock) if event.path else self._live
        try:
            source.start()
            yield from self._listen(source, event.hands_free)
        except PredtuiError as error:
            if source is self._live:
                yield _without("microphone", str(error))
            yield Notice(text=str(error), severity="error")
            yield Endpoint(reason="end of file")
        finally:
            source.stop()
            if source is not self._live:
                source.close()

    def idle(self) -> Iterator[Event]:
        return iter(())

    def close(self) -> None:
        self._live.close()

    def _missing(self) -> str:
        """Why there is no microphone; "" where there is, and it is open now."""
        try:
            self._live.open()
        except PredtuiError as error:
            return str(error)
        return self._off

    def _listen(self, source: Source, hands_free: bool) -> Iterator[Event]:
        position, quiet, active = 0, 0.0, False
        padding, endpointer = Padding(), Endpointer(self._silence_ms)
        self._activity.reset()
        warned = ""
        while not self._context.stale():
            pcm = source.read()
            if source.warning != warned:
                warned = source.warning
                yield Notice(text=warned, severity="warning")
            if pcm == b"":
                continue
            voiced = bool(pcm) and self._activity.push(pcm or b"")
            decided = padding.flush() if pcm is None else padding.push(pcm, voiced)
            quiet = 0.0 if self._activity.speaking else quiet + FRAME / RATE
            was, active = active, voiced or (active and quiet < PAUSE_SECONDS)
            if active != was and pcm is not None:
                yield SpeechActivity(active=active)
            for frame, heard in decided:
                yield AudioFrame(pcm=frame, rate=RATE, position=position, voiced=heard)
                position += FRAME
            if pcm is None:
                yield Endpoint(reason="end of file")
                return
            if endpointer.push(self._activity.speaking) and hands_free:
                yield Endpoint(reason="silence")
                return


class PlayerStage:
    """SpeechChunk → sound; Playback says what the listener hears. Chunks of an interrupted turn are ignored, however
    late. Without a device the reply passes in silence at its own pace, so that a turn always ends.
    """

    accepts: tuple[type[Event], ...] = (SpeechChunk, SpeechEnd, Interrupt)
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

    def open(self, context: StageContext) -> Iterator[Event]:
        self._clock = context.clock
        self._output = self._make(self._clock)
        if not isinstance(self._output, Speaker):
            yield _without("loudspeaker", OFF.format("loudspeaker", "audio.output"), "starting")
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
        elif isinstance(event, SpeechChunk):
            yield from self._chunk(event)
        elif isinstance(event, SpeechEnd):
            yield from self._end(event)

    def idle(self) -> Iterator[Event]:
        """What is heard by now: playing, or finished once the reply has ended and the last sample is out."""
        if self._state != "playing":
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

    def _begin(self, event: Event) -> Iterator[Event]:
        """The first event of a reply; one that still plays gives way to it."""
        if event.turn != self._turn:
            yield from self._stop()
            self._output.reset()
            self._turn, self._ended, self._written = event.turn, False, 0.0
            self._sentences.clear()
        self._generation = max(self._generation, event.generation)

    def _chunk(self, event: SpeechChunk) -> Iterator[Event]:
        yield from self._begin(event)
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
        self._output = NullSpeaker(self._clock, played)
        yield _without("loudspeaker", str(error), state)
        yield Notice(text=f"{error} Replies are shown, not heard.", severity="warning")

    def _await_first_sample(self) -> None:
        limit = self._clock.now() + FIRST_SAMPLE_SECONDS
        while not self._output.started and self._clock.now() < limit:
            self._clock.sleep(0.001)

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
        return Playback(state=state, index=index, seconds=played)  # type: ignore[arg-type]

    @property
    def _last_index(self) -> int:
        return self._sentences[-1][1] if self._sentences else 0


def _without(device: str, missing: str, state: StageState = "ready") -> StageStatus:
    """The stage works on: without ``device`` where something is ``missing``, else with it."""
    return StageStatus(state=state, message=missing, lacks=device if missing else "", progress=1.0)


def microphone(options: AudioSettings) -> MicrophoneStage:
    """The stage "mic". ``options.input`` "none" is a microphone that hears nothing."""

    def make(clock: Clock) -> Source:
        return NullSource(clock) if options.input == NO_DEVICE else Microphone(options.input)

    off = OFF.format("microphone", "audio.input") if options.input == NO_DEVICE else ""
    return MicrophoneStage(options.silence_ms, make, off)


def player(options: AudioSettings) -> PlayerStage:
    """The stage "player". ``options.output`` "none" plays nowhere."""

    def make(clock: Clock) -> Output:
        return NullSpeaker(clock) if options.output == NO_DEVICE else Speaker(options.output)

    return PlayerStage(make)
