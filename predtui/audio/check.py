"""A sound check: plays a sample, listens meanwhile and behind it, and says what was found. Must not know who asks, nor
of words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from predtui.audio.devices import NO_DEVICE, NOUN, Kind, switched_off
from predtui.audio.echo import Canceller, Coupling, FarEnd, Pace, WebRtc
from predtui.audio.found import Found, Level, Say, Told
from predtui.audio.level import FAINT_DB, Meter, decibels
from predtui.audio.playback import Loudspeaker, Output
from predtui.audio.resample import to_float
from predtui.audio.sources import Microphone, Source
from predtui.audio.vad import Detector, Energy, Silero, VoiceActivity
from predtui.clock import Clock, RealClock
from predtui.errors import PredtuiError
from predtui.settings import AudioSettings
from predtui.state.events import Playback, SoundLevel, SpeechChunk

LISTENS_S = 4.0
"""Seconds that somebody has to say something."""
STUCK_S = 3.0
"""Seconds that a loudspeaker may take longer than the sample lasts."""
CLIPS, CLIPPED = 0.998, 5
"""A sample of that size is as loud as can be; so many of them are no chance."""
EVERY_S, STEP_S = 0.1, 0.02
"""Seconds between two looks at how far the sample has come: as replies are told of, or without ears."""
CHOOSE = "Choose another with F9 on the screen, or --{kind} NAME."


class Ears:
    """What the microphone hears: of the sample, and of a person."""

    def __init__(self, source: Source, canceller: Canceller | None, detector: Detector, clock: Clock) -> None:
        self._source, self._canceller, self._clock = source, canceller, clock
        self._meter, self._activity = Meter(), VoiceActivity(detector)
        self._pace, self._speech, self._clipped = Pace(), list[float](), 0
        self.loudest = decibels(0.0)
        self.far, self.coupling = FarEnd(), Coupling()

    def hear(self, person: bool) -> Iterator[Told]:
        """The next frame, where one comes within a tenth of a second. ``person``: somebody is to speak. Raises
        PredtuiError where the device has gone."""
        pcm = self._source.read()
        if not pcm:
            return
        for event in self._meter.push(pcm):
            if isinstance(event, SoundLevel):
                self.loudest = max(self.loudest, event.decibels)
                yield Level(event.decibels)
        cleaned = self._cleaned(pcm)
        if person:
            samples = to_float(pcm)
            self._clipped += int(np.count_nonzero(np.abs(samples) >= CLIPS))
            if self._activity.push(cleaned):
                self._speech.append(float(np.mean(np.square(samples))))

    def _cleaned(self, pcm: bytes) -> bytes:
        """Without the sample's echo."""
        began = self._pace(self._clock.now())
        if not self.far.echoes(began):
            return pcm
        far = self.far.at(began)
        cleaned = self._canceller.clean(pcm, far) if self._canceller else pcm
        self.coupling.hear(pcm, far, cleaned)
        return cleaned

    def found(self) -> Found:
        """Of the microphone."""
        choose = CHOOSE.format(kind="input")
        if why := self._meter.wrong:
            return Found(NOUN["input"], "missing", why, choose, needed=True)
        if not self._speech:
            level = f"it hears sound, {self.loudest:.0f} dBFS at the loudest, and nobody who speaks."
            return Found(NOUN["input"], "missing", level, f"If you did speak: {choose[0].lower()}{choose[1:]}", True)
        heard = f"heard you at {decibels(sum(self._speech) / len(self._speech)):.0f} dBFS"
        if self._clipped >= CLIPPED:
            return Found(NOUN["input"], "broken", f"{heard}, and it clips.", "Turn it down, or move away.", needed=True)
        return Found(NOUN["input"], "found", heard, needed=True)

    def echo(self, without: str) -> Found:
        """Whether it hears the loudspeaker, and whether that is cancelled; ``without``: why there is no canceller."""
        if self.coupling.none:
            return Found("echo", "found", "the microphone does not hear the loudspeaker")
        heard = "the microphone hears the loudspeaker"
        if without:
            return Found("echo", "missing", f"{heard}: {without}")
        if self.coupling.cancelled:
            return Found("echo", "found", f"{heard}, and its echo is cancelled")
        remedy = "Turn it down, or take headphones: hands-free, a reply might hear itself."
        return Found("echo", "missing", f"{heard}, and its echo is not cancelled.", remedy)


def check(options: AudioSettings, sample: tuple[bytes, int], clock: Clock | None = None) -> Iterator[Told]:
    """All that is found, with levels and what to do meanwhile: of the devices that ``options`` name, as far as they are
    there. ``sample``: mono 16-bit PCM, and its samples a second."""
    clock = clock or RealClock()
    loudspeaker, microphone = Loudspeaker(options.output), Microphone(options.input)
    mute = _problem("output", options.output, loudspeaker.open)
    deaf = _problem("input", options.input, microphone.open)
    canceller, without = _canceller()
    ears = Ears(microphone, canceller, _detector(), clock)
    try:
        if not deaf:
            microphone.start(anew=True)
        yield from [mute] if mute else _play(loudspeaker, sample, None if deaf else ears, clock)
        yield from [deaf] if deaf else _listen(ears, "" if mute else without, bool(mute), clock)
    except PredtuiError as error:
        yield _missing("input", error)
    finally:
        microphone.close()
        loudspeaker.close()


def _play(output: Output, sample: tuple[bytes, int], ears: Ears | None, clock: Clock) -> Iterator[Told]:
    pcm, rate = sample
    yield Say("A voice is playing: be quiet, and listen.")
    lasts, began = len(pcm) / 2 / rate, clock.now()
    try:
        output.write(pcm, rate)
        output.finish()
    except PredtuiError as error:
        yield _missing("output", error)
        return
    if ears:
        ears.far.chunk(SpeechChunk(turn=1, pcm=pcm, rate=rate))
    looked = -EVERY_S
    while output.waiting > 0 and (now := clock.now()) - began < lasts + STUCK_S:
        if ears is None:
            clock.sleep(STEP_S)
            continue
        if now - looked >= EVERY_S:
            looked = now
            ears.far.playback(Playback(turn=1, state="playing", seconds=output.played, time=now))
        yield from ears.hear(person=False)
    if output.waiting > 0:
        yield Found(NOUN["output"], "broken", "it takes no sound.", CHOOSE.format(kind="output"), needed=True)
    else:
        yield Found(NOUN["output"], "found", f"has played {lasts:.0f} seconds of a voice", needed=True)


def _listen(ears: Ears, without: str, mute: bool, clock: Clock) -> Iterator[Told]:
    ears.far.stop()
    yield Say("Now say something.")
    end = clock.now() + LISTENS_S
    while clock.now() < end:
        yield from ears.hear(person=True)
    yield ears.found()
    if not mute and ears.loudest >= FAINT_DB:
        yield ears.echo(without)


def _problem(kind: Kind, name: str, open_: Callable[[], None]) -> Found | None:
    if name == NO_DEVICE:
        return Found(NOUN[kind], "missing", switched_off(kind), needed=True)
    try:
        open_()
    except PredtuiError as error:
        return _missing(kind, error)
    return None


def _missing(kind: Kind, error: PredtuiError) -> Found:
    return Found(NOUN[kind], "missing", error.message, error.remedy, needed=True)


def _canceller() -> tuple[Canceller | None, str]:
    """What cancels echoes, or why nothing does."""
    try:
        return WebRtc(), ""
    except PredtuiError as error:
        return None, str(error)


def _detector() -> Detector:
    try:
        return Silero()
    except PredtuiError:
        return Energy()
