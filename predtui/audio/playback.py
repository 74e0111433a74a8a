"""Where sound goes: a device that can stop at a sample, or nowhere at the same pace. Knows nothing of turns."""

from __future__ import annotations

import threading
from typing import Any, Protocol

import numpy as np

from predtui.audio import devices
from predtui.audio.echo import LEVELS, ramped
from predtui.audio.resample import Resampler
from predtui.clock import Clock
from predtui.errors import PredtuiError
from predtui.state.events import Loudness

FADE_SECONDS = 0.005
LATENCY_SECONDS, LONGEST_SECONDS = 0.025, 0.2
"""What a device keeps of the sound before it plays it: at first, since one that keeps less has gaps, and at most."""


class Output(Protocol):
    """Plays what is written, in order, at once. Times are in seconds of sound."""

    @property
    def played(self) -> float:
        """Handed to the listener since the last ``reset``."""
        ...

    @property
    def waiting(self) -> float:
        """Written and not played yet."""
        ...

    @property
    def started(self) -> bool:
        """Whether the first sample since the last ``reset`` has gone out."""
        ...

    @property
    def alive(self) -> bool:
        """Whether it still takes sound."""
        ...

    def look(self) -> None:
        """For a device that had gone. Raises PredtuiError while it has."""
        ...

    def write(self, pcm: bytes, rate: int) -> None:
        """Mono 16-bit PCM. Raises PredtuiError when the device cannot be opened or has gone."""
        ...

    def finish(self) -> None:
        """No more follows for now: what a resampler holds goes out too."""
        ...

    def stop(self) -> float:
        """Silence at once, what waits is dropped; the seconds played since the last ``reset``."""
        ...

    def reset(self) -> None:
        """A new reply, at full level."""
        ...

    def play(self, level: Loudness) -> None:
        """How loud from now on; held, nothing is played, and nothing is lost."""
        ...

    def close(self) -> None: ...


class NullLoudspeaker:
    """Advances on the clock as if it played. ``played``: the seconds that another output had played before."""

    alive = True

    def __init__(self, clock: Clock, played: float = 0.0) -> None:
        self._clock = clock
        self._played = played
        self._waiting = 0.0
        self._held = False
        self._seen = clock.now()

    @property
    def played(self) -> float:
        self._advance()
        return self._played

    @property
    def waiting(self) -> float:
        self._advance()
        return self._waiting

    @property
    def started(self) -> bool:
        return self.played + self.waiting > 0

    def look(self) -> None:
        """It is always there."""

    def write(self, pcm: bytes, rate: int) -> None:
        self._advance()
        self._waiting += len(pcm) // 2 / rate

    def finish(self) -> None:
        """Nothing is held back."""

    def stop(self) -> float:
        self._advance()
        self._waiting = 0.0
        return self._played

    def reset(self) -> None:
        self.stop()
        self._played, self._held = 0.0, False

    def play(self, level: Loudness) -> None:
        self._advance()
        self._held = level == "held"

    def close(self) -> None:
        self.stop()

    def _advance(self) -> None:
        now = self._clock.now()
        step = 0.0 if self._held else min(now - self._seen, self._waiting)
        self._seen = now
        self._played += step
        self._waiting -= step
        if self._waiting < 1e-9:
            self._waiting = 0.0


class Loudspeaker:
    """A live output, by index, name or part of a name ("" = the default).

    PortAudio's thread takes samples from a ring; where the ring is empty it plays silence, which does not count as
    played. The device is opened by the first ``write``, at that sound's rate where it takes it. Where it ran dry in a
    reply, it keeps twice as much from the next one on.
    """

    def __init__(self, device: str = "") -> None:
        self._name = device
        self._lock = threading.Lock()
        self._ring = bytearray()
        self._samples = 0
        self._rate = 0
        self._stream: Any = None
        self._resampler: Resampler | None = None
        self.latency = LATENCY_SECONDS
        """Seconds that the device is asked to keep."""
        self.gaps = 0
        """How often it ran dry since the last ``reset``."""
        self._level = self._gain = 1.0
        """The amplitude that is wanted, and that of the last sample."""

    @property
    def played(self) -> float:
        return max(0, self._samples) / self._rate if self._rate else 0.0

    @property
    def waiting(self) -> float:
        return len(self._ring) // 2 / self._rate if self._rate else 0.0

    @property
    def started(self) -> bool:
        return self._samples > 0

    def open(self, rate: int = 22050) -> None:
        """Raises PredtuiError where there is no such device or it refuses."""
        if self._stream is not None:
            return
        device = devices.find("output", self._name)
        self._rate = devices.supported_rate("output", device, rate)
        sound = devices.portaudio()
        try:
            self._stream = sound.RawOutputStream(
                samplerate=self._rate,
                device=device.index,
                channels=1,
                dtype="int16",
                latency=self.latency,
                callback=self._give,
            )
            self._stream.start()
        except sound.PortAudioError as error:
            self.close()
            raise PredtuiError(f"the loudspeaker {device.name} cannot be opened: {error}.", "Is it in use?") from error

    def look(self) -> None:
        devices.rescan()
        self.open()

    def write(self, pcm: bytes, rate: int) -> None:
        self.open(rate)
        if not self.alive:
            self.close()
            raise PredtuiError("the loudspeaker has gone.", "Plug it in again, or choose another.")
        if self._resampler is None or self._resampler.source != rate:
            self.finish()
            self._resampler = Resampler(rate, self._rate)
        self._append(self._resampler.process(pcm))

    def finish(self) -> None:
        if self._resampler is not None:
            self._append(self._resampler.flush())
            self._resampler = None

    @property
    def alive(self) -> bool:
        try:
            return self._stream is not None and bool(self._stream.active)
        except devices.portaudio().PortAudioError:
            return False

    def stop(self) -> float:
        """Drops all but 5 ms of fade here and now, so the figure returned is what will have been heard."""
        with self._lock:
            self._resampler = None
            fade = min(int(FADE_SECONDS * self._rate), len(self._ring) // 2) if self._gain else 0
            ramp = np.linspace(1.0, 0.0, fade, endpoint=False)
            tail = np.frombuffer(bytes(self._ring[: 2 * fade]), dtype="<i2") * ramp
            self._ring[:] = tail.astype("<i2").tobytes()
            return (self._samples + fade) / self._rate if self._rate else 0.0

    def reset(self) -> None:
        """A new reply: counting starts again. The fade of an interrupted one still goes out, uncounted."""
        gaps, self.gaps = self.gaps, 0
        if gaps and self.latency < LONGEST_SECONDS:
            self.latency = min(2 * self.latency, LONGEST_SECONDS)
            self.close()
        with self._lock:
            self._level = 1.0
            self._samples = -(len(self._ring) // 2)

    def play(self, level: Loudness) -> None:
        with self._lock:
            self._level = LEVELS[level]

    def close(self) -> None:
        stream, self._stream = self._stream, None
        self._resampler = None
        self._ring.clear()
        if stream is not None:
            stream.close(ignore_errors=True)

    def _append(self, pcm: bytes) -> None:
        with self._lock:
            self._ring += pcm

    def _give(self, out: Any, frames: int, time: Any, status: Any) -> None:
        """Called by PortAudio, on its own thread, to fill ``out`` (2 bytes a frame)."""
        with self._lock:
            before, self._gain = self._gain, self._level
            taken = bytes(self._ring[: 2 * frames]) if before or self._gain else b""
            del self._ring[: len(taken)]
            self._samples += len(taken) // 2
            self.gaps += bool(taken and status and status.output_underflow)
        out[: len(taken)] = taken if before == self._gain == 1.0 else ramped(taken, before, self._gain)
        out[len(taken) :] = bytes(2 * frames - len(taken))
