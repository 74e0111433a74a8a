"""The stage "mic": sound in, voice activity, end of turn, and who talks over a reply. Must not know of words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from predtui.audio.devices import NO_DEVICE, switched_off, without
from predtui.audio.echo import Canceller, Coupling, FarEnd, OwnVoice, Pace, WebRtc, residue
from predtui.audio.level import Meter
from predtui.audio.overhear import Overhearing
from predtui.audio.resample import FRAME, RATE
from predtui.audio.sources import FileSource, Microphone, NullSource, Source
from predtui.audio.vad import Endpointer, Energy, Padding, Silero, VoiceActivity
from predtui.clock import Clock
from predtui.errors import PredtuiError
from predtui.settings import AudioSettings
from predtui.state.events import (
    AudioFrame,
    Duck,
    Endpoint,
    Event,
    Interrupt,
    Listen,
    LookForDevice,
    Notice,
    Overhear,
    Playback,
    SpeechActivity,
    SpeechChunk,
    StageStatus,
    TurnStarted,
)
from predtui.state.stage import StageContext

PAUSE_SECONDS = 0.064
"""Quiet after speech that counts as a pause. Speech that goes on has such gaps too, about one in two seconds: the round
that a pause brings in the recogniser is then one like others."""

LOOK_SECONDS = 5.0
"""Between two looks for a microphone that has gone, while nobody is to be heard."""
ECHO_SECONDS = 0.1
"""How long a reply that was silenced may still be heard in the room."""
LONGEST_SILENCE_MS = 2000
"""Silence that ends a hands-free turn where nothing else has ended it before."""


class MicrophoneStage:
    """Listen → AudioFrame until an Endpoint or Interrupt makes it stale, silence ends a hands-free turn, or the file
    does. Frames of a turn have contiguous positions. A failing device or file ends the input as lost; the next Listen
    tries again.
    """

    accepts: tuple[type[Event], ...] = (Listen, Endpoint, Interrupt, LookForDevice)

    def __init__(
        self,
        silence_ms: int,
        make_live: Callable[[Clock], Source],
        off: str = "",
        make_canceller: Callable[[], Canceller] | None = None,
    ) -> None:
        """``off``: says so where it was chosen to hear nothing live. ``make_canceller``: where replies may be talked
        over; it raises PredtuiError where there is none, and then they cannot be."""
        self._silence_ms = silence_ms
        self._make_live = make_live
        self._off = off
        self._make_canceller = make_canceller
        self._canceller: Canceller | None = None
        if make_canceller:
            self.accepts = (*self.accepts, TurnStarted, Overhear, Duck, SpeechChunk, Playback)
        self._far, self._coupling, self._own = FarEnd(), Coupling(), OwnVoice()
        self._over: Overhearing | None = None
        self._open_ears(False)

    def open(self, context: StageContext) -> Iterator[Event]:
        """A missing microphone is a notice, not a failure: files and typing work without one."""
        self._context = context
        self._live = self._make_live(context.clock)
        self._pace = Pace()
        self._looked = math.inf
        """When a microphone that has gone was last looked for; infinite where none has."""
        try:
            self._activity = VoiceActivity(Silero())
        except PredtuiError as error:
            self._activity = VoiceActivity(Energy())
            yield Notice(text=f"{error} Loudness decides instead.", severity="warning")
        if self._make_canceller:
            try:
                self._canceller = self._make_canceller()
            except PredtuiError as error:
                yield Notice(text=str(error), severity="warning")
        if missing := self._missing():
            yield without("input", missing, "starting")
            if not self._off:
                self._looked = context.clock.now()
                yield Notice(text=f"{missing} Typing and sound files work.", severity="warning")

    def handle(self, event: Event) -> Iterator[Event]:
        match event:
            case LookForDevice():
                yield self._look()
            case SpeechChunk():
                self._far.chunk(event)
            case Playback():
                self._far.playback(event)
            case Duck():
                self._far.duck(event.level)
            case Overhear():
                yield from self._overhear()
            case Interrupt() | Endpoint() | TurnStarted():  # has made the Listen before it stale
                self._far.stop()
                self._open_ears(False)
            case Listen():
                yield from self._hear(event)

    def _hear(self, event: Listen) -> Iterator[Event]:
        source = FileSource(event.path, self._context.clock) if event.path else self._live
        over, self._over = self._over, None
        self._open_ears(False)
        try:
            before = over.rest() if over and event.overheard else []
            if not (over and event.overheard):
                source.start(event.anew)
                self._pace = Pace()
            yield from self._listen(
                source, event.hands_free, ECHO_SECONDS if event.anew and not before else 0.0, before
            )
        except PredtuiError as error:
            if source is self._live:
                self._looked = self._context.clock.now()
                yield without("input", str(error))
            yield Notice(text=str(error), severity="error")
            yield Endpoint(reason="lost")
        finally:
            source.stop()
            if source is not self._live:
                source.close()

    def idle(self) -> Iterator[Event]:
        """Hears what is said over a reply; a microphone that has gone may be there again."""
        if self.tick == 0.0:
            yield from self._overheard()
            return
        if self._over:
            self._over = None
            self._live.stop()
        if self._context.clock.now() - self._looked >= LOOK_SECONDS:
            status = self._look()
            if not status.lacks:
                yield status
                yield Notice(text="There is a microphone again: you are heard.")

    def close(self) -> None:
        self._live.close()

    def _look(self) -> StageStatus:
        """Whether there is a microphone now."""
        missing = self._missing()
        self._looked = self._context.clock.now() if missing and not self._off else math.inf
        return without("input", missing)

    def _missing(self) -> str:
        """Why there is no microphone; "" where there is, and it is open now."""
        try:
            self._live.open()
        except PredtuiError as error:
            return str(error)
        return self._off

    def _overhear(self) -> Iterator[Event]:
        """From now on, where the echo can be cancelled."""
        if self._canceller is None:
            return
        try:
            self._live.start(anew=True)
        except PredtuiError as error:
            self._looked = self._context.clock.now()
            yield without("input", str(error))
            return
        self._pace, self._over = Pace(), Overhearing(self._activity)
        self._open_ears(True)

    def _open_ears(self, over_reply: bool) -> None:
        """Whether what is said over a reply is heard from now on, a frame in each ``idle``."""
        self.tick: float | None = 0.0 if over_reply else 0.5

    def _overheard(self) -> Iterator[Event]:
        """The next frame."""
        assert self._over is not None
        try:
            pcm = self._live.read()
        except PredtuiError as error:
            self._over = None
            self._open_ears(False)
            self._live.stop()
            self._looked = self._context.clock.now()
            yield without("input", str(error))
            return
        if pcm:
            cleaned = self._cleaned(pcm)
            nobody = not self._over.kept and self._alone(pcm, cleaned)
            yield from self._over.push(bytes(len(cleaned)) if nobody else cleaned)
            if self._over.kept and self._own.heard and not self._coupling.none:
                yield from self._over.forget()

    def _alone(self, pcm: bytes, cleaned: bytes) -> bool:
        """Whether a frame has nothing but the reply's echo."""
        coupling, now = self._coupling, self._context.clock.now()
        if coupling.none or not self._far.echoes(now):
            return False
        certain = coupling.cancelled or coupling.louder
        return self._far.settling(now) or residue(pcm, cleaned) or not certain

    def _cleaned(self, pcm: bytes) -> bytes:
        """A live frame without the reply's echo."""
        began = self._pace(self._context.clock.now())
        if self._canceller is None or not self._far.echoes(began):
            return pcm
        far = self._far.at(began)
        cleaned = self._canceller.clean(pcm, far)
        self._coupling.hear(pcm, far, cleaned)
        self._own.hear(cleaned, far)
        return pcm if self._coupling.none else cleaned

    def _listen(self, source: Source, hands_free: bool, unheard: float, before: Sequence[bytes]) -> Iterator[Event]:
        """``unheard``: seconds at the beginning that do not count; ``before``: frames that were heard already."""
        self._activity.reset()
        left = round(unheard * RATE / FRAME)
        turn, warned = Listening(self._activity, self._silence_ms), ""
        meter = Meter() if source is self._live else None
        for frame in before:
            yield from turn.push(frame)
        while not self._context.stale():
            pcm = source.read()
            if source.warning != warned:
                warned = source.warning
                yield Notice(text=warned, severity="warning")
            if pcm is None:
                yield from turn.flush()
                yield Endpoint(reason="end of file")
                return
            if pcm and meter:
                yield from meter.push(pcm)
            if pcm and left:
                left -= 1
            elif pcm:
                yield from turn.push(self._cleaned(pcm) if source is self._live else pcm)
                if turn.silent and hands_free:
                    yield Endpoint(reason="silence")
                    return


class Listening:
    """The sound of one turn as AudioFrames with contiguous positions, and SpeechActivity where speech and pauses
    begin."""

    def __init__(self, activity: VoiceActivity, silence_ms: int) -> None:
        self._activity = activity
        self._padding, self._endpointer = Padding(), Endpointer(silence_ms)
        self._position, self._quiet, self._active = 0, 0.0, False
        self.silent = False
        """Whether so much silence has followed speech that a hands-free turn is over."""

    def push(self, pcm: bytes) -> Iterator[Event]:
        """One frame more."""
        voiced = self._activity.push(pcm)
        speaking = self._activity.speaking
        decided = self._padding.push(pcm, voiced)
        self._quiet = 0.0 if speaking else self._quiet + FRAME / RATE
        was, self._active = self._active, voiced or (self._active and self._quiet < PAUSE_SECONDS)
        if self._active != was:
            yield SpeechActivity(active=self._active, quiet=self._quiet)
        yield from self._frames(decided)
        self.silent = self._endpointer.push(speaking)

    def flush(self) -> Iterator[Event]:
        """The frames that were held back, at the end of the sound."""
        yield from self._frames(self._padding.flush())

    def _frames(self, decided: list[tuple[bytes, bool]]) -> Iterator[Event]:
        for frame, voiced in decided:
            yield AudioFrame(pcm=frame, rate=RATE, position=self._position, voiced=voiced)
            self._position += FRAME


def create(options: AudioSettings) -> MicrophoneStage:
    """The stage "mic". ``options.input`` "none" is a microphone that hears nothing."""

    def make(clock: Clock) -> Source:
        return NullSource(clock) if options.input == NO_DEVICE else Microphone(options.input)

    off = switched_off("input") if options.input == NO_DEVICE else ""
    canceller = WebRtc if options.hands_free and options.barge_in and not off else None
    return MicrophoneStage(options.silence_ms or LONGEST_SILENCE_MS, make, off, canceller)
