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
RESIDUE = 10 ** (-14 / 20)
"""Share of a frame's amplitude that is echo still, where no more than that is left: while the canceller is finding out,
or finds the echo elsewhere. A person is about as loud as the loudspeaker."""
ROOM_S = 1.0
"""Seconds after a reply in which its echo may still be heard."""


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
            self._zero = None
        elif event.turn == self._turn and self._level != "held":
            zero = event.time - event.seconds
            if self._zero is None or abs(zero - self._zero) > ASTRAY_S:
                self._zero = zero

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

    def echoes(self, time: float) -> bool:
        """Whether the reply may be heard in the room at ``time``."""
        return time - self._sounded < ROOM_S or self._zero is not None


def residue(near: bytes, cleaned: bytes) -> bool:
    """Whether nobody is heard in what is left of a frame."""
    return _level(cleaned) < RESIDUE * _level(near)


class Coupling:
    """How much of the loudspeaker's sound comes to the microphone: with headphones on nothing does, and a canceller
    would only take away from what a person says."""

    LEAST_DB = -35.0
    FRAMES, ENOUGH = 100, 25
    """That are looked at, and needed: of 20 ms in which the loudspeaker sounds."""
    SOUNDING = 30.0
    """Root mean square of 16-bit samples, -60 dB, from which it does."""

    def __init__(self) -> None:
        self._decibels: deque[float] = deque(maxlen=self.FRAMES)

    def hear(self, near: bytes, far: bytes) -> None:
        """What was heard, and what was played meanwhile. A person who speaks for less than a second changes nothing."""
        played = _level(far)
        if played > self.SOUNDING:
            self._decibels.append(20 * math.log10(max(_level(near), 0.1) / played))

    @property
    def none(self) -> bool:
        """Whether there is no echo to cancel."""
        return len(self._decibels) >= self.ENOUGH and float(np.median(self._decibels)) < self.LEAST_DB


def _level(pcm: bytes) -> float:
    return float(np.sqrt(np.mean(np.square(np.frombuffer(pcm, "<i2").astype(np.float32)))))


class Pace:
    """When each frame of a source began, at the latest: frames are read late by turns, and are made evenly."""

    DRIFT_S = 4e-6
    """By so much a frame the two clocks may drift apart: 200 parts in a million."""

    def __init__(self) -> None:
        self._count = 0
        self._zero = float("inf")

    def __call__(self, now: float) -> float:
        """Of the frame that has just been read."""
        self._count += 1
        length = FRAME / RATE
        self._zero = min(self._zero + self.DRIFT_S, now - self._count * length)
        return self._zero + (self._count - 1) * length
