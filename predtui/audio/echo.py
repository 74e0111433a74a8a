"""The reply's echo, cancelled in what the microphone hears: WebRTC's canceller, and the reply as it is being played.

Must not know of turns or words.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Protocol

import numpy as np

from predtui.audio.resample import FRAME, FRAME_BYTES, RATE, Resampler
from predtui.errors import PredtuiError
from predtui.state.events import Loudness, Playback, SpeechChunk

SOFT = 10 ** (-12 / 20)
"""Amplitude of a reply that somebody may be talking over."""
LEVELS: dict[Loudness, float] = {"full": 1.0, "soft": SOFT, "held": 0.0}
DELAY_MS = 60
"""From a sample that the device is given to its echo, about, for a canceller to begin with: it finds out."""
ASTRAY_S = 0.05
"""By so much what is told of the playback may be off before the reply is taken to be elsewhere. Each such step costs
the canceller a moment to find its echo again."""
SETTLE_S = 0.8
"""Seconds of a reply until the canceller has found its echo, in which nobody is taken to talk over it."""
RESIDUE = 10 ** (-14 / 20)
"""Share of a frame's amplitude that is echo still, where no more than that is left: while the canceller is finding out,
or finds the echo elsewhere. A person is about as loud as the loudspeaker."""
ROOM_S = 0.4
"""Seconds after a reply, or after it stood still, in which its echo may still be heard."""


def ramped(pcm: bytes, before: float, after: float) -> bytes:
    """Mono 16-bit PCM whose amplitude goes from ``before`` to ``after``, without a click."""
    samples = np.frombuffer(pcm, "<i2")
    return (samples * np.linspace(before, after, len(samples))).astype("<i2").tobytes()


class Canceller(Protocol):
    """Frames of 20 ms at 16 kHz, mono, 16 bits, in order."""

    def clean(self, near: bytes, far: bytes) -> bytes:
        """What the microphone heard, ``near``, without the echo of ``far``, which was played meanwhile or before."""
        ...


class WebRtc:
    """The canceller of browsers (AEC3), in LiveKit's binding. Raises PredtuiError where that is not installed."""

    def __init__(self) -> None:
        try:
            from livekit.rtc import AudioFrame
            from livekit.rtc.apm import AudioProcessingModule

            self._processing = AudioProcessingModule(echo_cancellation=True, high_pass_filter=True)
        except Exception as error:  # of the library's own kinds too, where it does not run on this machine
            raise PredtuiError(
                f"no echo canceller: {error}. Hands-free, the microphone is closed while a reply plays.",
                "Try: pip install livekit",
            ) from error
        self._frame = AudioFrame

    def clean(self, near: bytes, far: bytes) -> bytes:
        return self._half(near[:FRAME], far[:FRAME]) + self._half(near[FRAME:], far[FRAME:])

    def _half(self, near: bytes, far: bytes) -> bytes:
        """It takes 10 ms at a time."""
        self._processing.process_reverse_stream(self._frame(far, RATE, 1, FRAME // 2))
        self._processing.set_stream_delay_ms(DELAY_MS)
        heard = self._frame(near, RATE, 1, FRAME // 2)
        self._processing.process_stream(heard)
        return bytes(heard.data)


class FarEnd:
    """The reply as the loudspeaker is given it, at the recogniser's rate. Times are seconds of the clock."""

    def __init__(self) -> None:
        self._turn = 0
        self._reply = bytearray()
        self._resampler: Resampler | None = None
        self._zero: float | None = None
        """When the device was given the reply's first sample, or would have been, had it never stood still."""
        self._level: Loudness = "full"
        self._gain = 1.0
        self._sounded = -ROOM_S
        self._began = 0.0

    def chunk(self, event: SpeechChunk) -> None:
        """More of the reply, which may not be played yet."""
        if event.turn != self._turn:
            self._turn, self._reply, self._resampler, self._zero = event.turn, bytearray(), None, None
            self._level = "full"
        if not event.pcm:
            return
        if self._resampler is None or self._resampler.source != event.rate:
            self._resampler = Resampler(event.rate, RATE)
        self._reply += self._resampler.process(bytes(event.pcm))

    def playback(self, event: Playback) -> None:
        """Where in the reply the device is."""
        if event.state in ("finished", "stopped"):
            self.stop()
        elif event.turn == self._turn and self._level != "held":
            zero = event.time - event.seconds
            if self._zero is None or abs(zero - self._zero) > ASTRAY_S:
                self._zero, self._began = zero, event.time

    def stop(self) -> None:
        """It ends here, or was silenced: of a turn that is over, the playback tells no more."""
        self._zero = None

    def duck(self, level: Loudness) -> None:
        """How loud it is from now on."""
        self._level = level
        if level == "held":
            self._zero = None

    def at(self, time: float) -> bytes:
        """The 20 ms that the device was given from ``time`` on; silence where that was nothing."""
        before, self._gain = self._gain, LEVELS[self._level]
        if self._zero is None:
            return bytes(FRAME_BYTES)
        start = 2 * round((time - self._zero) * RATE)
        part = bytes(self._reply[max(0, start) : max(0, start + FRAME_BYTES)])
        if not part:
            return bytes(FRAME_BYTES)
        self._sounded = time
        part = part.rjust(FRAME_BYTES, b"\0") if start < 0 else part.ljust(FRAME_BYTES, b"\0")
        return part if before == self._gain == 1.0 else ramped(part, before, self._gain)

    def settling(self, time: float) -> bool:
        """Whether it has just begun, or gone on, so that the canceller is still finding its echo."""
        return self._zero is not None and time - self._began < SETTLE_S

    def echoes(self, time: float) -> bool:
        """Whether the reply may be heard in the room at ``time``."""
        return time - self._sounded < ROOM_S or self._zero is not None


def residue(near: bytes, cleaned: bytes) -> bool:
    """Whether nobody is heard in what is left of a frame."""
    return _level(cleaned) < RESIDUE * _level(near)


class Coupling:
    """How the loudspeaker is heard by the microphone: whether at all, since with headphones on a canceller would only
    take away from what a person says; whether the canceller has it by now; and whether somebody is louder."""

    NONE_DB, CANCELLED_DB, LOUDER_DB = -35.0, -20.0, 6.0
    """Of echoes in simulated rooms none was louder than 5.7 dB over what the reply before made likely, of people 10 dB
    over the echo three quarters."""
    FRAMES, ENOUGH, NOW = 100, 25, 10
    """Of 20 ms, in which the loudspeaker sounds: looked at, needed, and those of which it is asked who is heard."""
    SOUNDING = 30.0
    """Root mean square of 16-bit samples, -60 dB, from which it does."""

    def __init__(self) -> None:
        self._echo: deque[float] = deque(maxlen=self.FRAMES)
        self._left: deque[float] = deque(maxlen=self.FRAMES)
        self._near: deque[float] = deque(maxlen=self.NOW)
        self._far: deque[float] = deque(maxlen=self.ENOUGH)

    def hear(self, near: bytes, far: bytes, cleaned: bytes) -> None:
        """What was heard, what was played meanwhile, and what was left. A person who speaks for less than a second
        changes nothing."""
        heard, played = _level(near), _level(far)
        self._near.append(heard**2)
        self._far.append(played**2)
        if played > self.SOUNDING:
            self._echo.append(_decibels(heard / played))
            self._left.append(_decibels(_level(cleaned) / max(heard, 0.1)))

    @property
    def none(self) -> bool:
        """Whether there is no echo to cancel."""
        return len(self._echo) >= self.ENOUGH and float(np.median(self._echo)) < self.NONE_DB

    @property
    def cancelled(self) -> bool:
        """Whether hardly anything of it was left, up to a moment ago."""
        before = list(self._left)[: -self.NOW]
        return len(before) >= self.ENOUGH and float(np.median(before[-3 * self.ENOUGH :])) < self.CANCELLED_DB

    @property
    def louder(self) -> bool:
        """Whether more is heard than the echo can be."""
        if len(self._echo) < self.ENOUGH or len(self._far) < self.ENOUGH:
            return False
        played = np.convolve(self._far, np.ones(self.NOW) / self.NOW, "valid").max()
        excess = 0.5 * _decibels(sum(self._near) / self.NOW / max(float(played), 1.0)) - float(np.median(self._echo))
        return excess > self.LOUDER_DB


def _decibels(ratio: float) -> float:
    return 20 * math.log10(max(ratio, 1e-6))


class OwnVoice:
    """Whether what is left after cancelling is the reply itself, which comes from another distance than before: by how
    far their correlation stands out at one delay (GCC-PHAT; Knapp and Carter 1976), in the band of speech."""

    NEAR, FAR, EVERY, LOOKS = 20, 40, 5, 3
    """Frames that are compared, with those that were played; between two looks; and looks that count."""
    LEAST = 14.0
    """Peak by root mean square. Of echoes in simulated rooms nine tenths are above 14 in one look, half above 19; of a
    person over a reply 10 dB softer nine tenths below 14, half below 10."""
    WHITENING, LOWEST_HZ, HIGHEST_HZ = 0.8, 200.0, 4000.0
    LONGEST_S = 0.4
    """From a sample that the device is given to its echo."""

    def __init__(self) -> None:
        self._near: deque[bytes] = deque(maxlen=self.NEAR)
        self._far: deque[bytes] = deque(maxlen=self.FAR)
        self._looks: deque[float] = deque(maxlen=self.LOOKS)
        self._count = 0

    def hear(self, cleaned: bytes, far: bytes) -> None:
        """Another frame of both."""
        self._near.append(cleaned)
        self._far.append(far)
        self._count += 1
        if self._count % self.EVERY == 0 and len(self._far) == self.FAR:
            self._looks.append(self._peak())

    @property
    def heard(self) -> bool:
        return len(self._looks) == self.LOOKS and sum(self._looks) / self.LOOKS > self.LEAST

    def _peak(self) -> float:
        near, far = (np.frombuffer(b"".join(frames), "<i2").astype(np.float32) for frames in (self._near, self._far))
        if not near.any() or not far.any():
            return 0.0
        size = 1 << (len(near) + len(far) - 1).bit_length()
        cross = np.fft.rfft(near, size) * np.conj(np.fft.rfft(far, size))
        hertz = np.fft.rfftfreq(size, 1 / RATE)
        band = (hertz > self.LOWEST_HZ) & (hertz < self.HIGHEST_HZ)
        found = np.fft.irfft(np.where(band, cross / (np.abs(cross) ** self.WHITENING + 1e-9), 0), size)
        delays = np.arange(round(self.LONGEST_S * RATE)) - (len(far) - len(near))
        return float(np.abs(found[delays % size]).max() / (np.sqrt(np.mean(np.square(found))) + 1e-12))


def _level(pcm: bytes) -> float:
    return float(np.sqrt(np.mean(np.square(np.frombuffer(pcm, "<i2").astype(np.float32)))))


class Pace:
    """When each frame of a source began, at the latest: frames are read late by turns, and are made evenly. Sound that
    was lost on its way moves all that follows."""

    FRAMES = 100
    """Of which the one that was read soonest tells: two seconds."""

    def __init__(self) -> None:
        self._count = 0
        self._zeros: deque[float] = deque(maxlen=self.FRAMES)
        """When the first frame would have begun, by each of the last ones."""

    def __call__(self, now: float) -> float:
        """Of the frame that has just been read."""
        self._count += 1
        length = FRAME / RATE
        self._zeros.append(now - self._count * length)
        return min(self._zeros) + (self._count - 1) * length
