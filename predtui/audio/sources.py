"""Where sound comes from: a microphone, a sound file played in real time, or silence. Each gives frames of 20 ms, mono,
16-bit, 16 kHz. Knows nothing of speech.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from predtui.audio import devices
from predtui.audio.files import check_file, decode, duration
from predtui.audio.resample import FRAME, FRAME_BYTES, RATE, Resampler
from predtui.audio.whole import truncated
from predtui.clock import Clock, RealClock
from predtui.errors import PredtuiError
from predtui.files import resolve

PREROLL_SECONDS = 0.3
STARVED_SECONDS = 2.0
"""A microphone that gives nothing for so long is gone; on a busy machine its first sound may come a second late."""
LONGEST_SECONDS = 600.0
"""The longest sound file that is taken for one utterance."""


class Source(Protocol):
    """Frames on demand: ``open`` once, then per utterance ``start``, any number of ``read``, ``stop``."""

    warning: str
    """A line for the person about the sound itself (a truncated file); "" when all is well."""

    def open(self) -> None:
        """Raises PredtuiError where there is nothing to hear from."""
        ...

    def start(self, anew: bool = False) -> None:
        """``anew``: without anything that was heard before."""
        ...

    def read(self) -> bytes | None:
        """The next frame of 640 bytes, ``b""`` when none has come within 0.1 s, None at the end of the sound."""
        ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


class Microphone:
    """A live input, by index, name or part of a name ("" = the default).

    While open it keeps the last ``preroll`` seconds, so that words spoken as the key goes down survive; with 0 the
    device is closed between utterances.
    """

    def __init__(self, device: str = "", preroll: float = PREROLL_SECONDS) -> None:
        self.warning = ""
        self._name = device
        self._preroll = preroll
        self._blocks: queue.Queue[bytes] = queue.Queue()
        self._stream: Any = None
        self._resampler = Resampler(RATE, RATE)
        self._pending = bytearray()
        self._live = False
        self._starved = 0.0
        self._lost = False
        self._fed = 0.0
        """When the device last gave something, by the system's clock."""

    def open(self) -> None:
        """Raises PredtuiError where there is no such device or it refuses."""
        if self._stream is not None:
            return
        if self._lost:
            devices.rescan()
            self._lost = False
        try:
            device = devices.find("input", self._name)
        except PredtuiError:
            self._lost = True
            raise
        rate = devices.supported_rate("input", device, RATE)
        self._resampler = Resampler(rate, RATE)
        sound = devices.portaudio()
        try:
            self._stream = sound.RawInputStream(
                samplerate=rate,
                blocksize=rate // 50,
                device=device.index,
                channels=1,
                dtype="int16",
                callback=self._take,
            )
            self._fed = time.monotonic()
            self._stream.start()
        except sound.PortAudioError as error:
            self._drop_stream()
            raise PredtuiError(f"the microphone {device.name} cannot be opened: {error}.", "Is it in use?") from error

    def start(self, anew: bool = False) -> None:
        """An utterance begins, ``preroll`` seconds ago, or now. Opens the device where it is not open, or has gone
        while nobody listened."""
        self._pending.clear()
        self._starved = 0.0
        self.warning = ""
        if self._stream is not None and (not self._active() or time.monotonic() - self._fed > STARVED_SECONDS):
            self._drop_stream()
            self._lost = True
        if anew:
            self._blocks = queue.Queue()
        self._live = True
        self.open()

    def read(self) -> bytes | None:
        """Never None: a live input has no end. Raises PredtuiError when the device has gone."""
        while len(self._pending) < FRAME_BYTES:
            try:
                block = self._blocks.get(timeout=0.1)
            except queue.Empty:
                self._starved += 0.1
                if self._starved >= STARVED_SECONDS or not self._active():
                    self._drop_stream()
                    self._lost = True
                    raise PredtuiError("the microphone has gone.", "Plug it in again, or choose another.") from None
                return b""
            self._starved = 0.0
            self._pending += self._resampler.process(block)
        frame = bytes(self._pending[:FRAME_BYTES])
        del self._pending[:FRAME_BYTES]
        return frame

    def stop(self) -> None:
        """The utterance is over; what comes from now on is only kept as the next one's pre-roll."""
        self._live = False
        if self._preroll <= 0:
            self.close()

    def close(self) -> None:
        self._live = False
        self._drop_stream()

    def _take(self, block: Any, frames: int, _time: Any, status: Any) -> None:
        """Called by PortAudio, on its own thread, with each block of 20 ms."""
        self._fed = time.monotonic()
        self._blocks.put_nowait(bytes(block))
        if self._live and status and status.input_overflow:
            self.warning = "the machine is too busy to hear all: some of the microphone's sound was lost."
        while not self._live and self._blocks.qsize() * FRAME > self._preroll * RATE:
            self._blocks.get_nowait()

    def _active(self) -> bool:
        try:
            return bool(self._stream.active)
        except devices.portaudio().PortAudioError:
            return False

    def _drop_stream(self) -> None:
        stream, self._stream = self._stream, None
        self._blocks = queue.Queue()
        if stream is not None:
            stream.close(ignore_errors=True)


class NullSource:
    """Silence in real time, without an end."""

    def __init__(self, clock: Clock) -> None:
        self.warning = ""
        self._clock = clock
        self._due = 0.0

    def open(self) -> None:
        """Nothing to open."""

    def start(self, anew: bool = False) -> None:
        self._due = self._clock.now()

    def read(self) -> bytes | None:
        self._due += FRAME / RATE
        self._clock.sleep(self._due - self._clock.now())
        return bytes(FRAME_BYTES)

    def stop(self) -> None:
        """Nothing to stop."""

    def close(self) -> None:
        """Nothing to close."""


class FileSource(NullSource):
    """A sound file as if it were spoken now: any rate, width and channel count, anything FFmpeg decodes."""

    def __init__(self, path: str, clock: Clock) -> None:
        super().__init__(clock)
        self._path = resolve(path)
        self._sound: Iterator[bytes] = iter(())
        self._pending = bytearray()

    def open(self) -> None:
        """Raises PredtuiError where the file is missing, unreadable, not sound, or empty. Names a truncation."""
        check_file(self._path)
        self.warning = f"{self._path.name} is cut short: playing what is there." if truncated(self._path) else ""
        self._sound = self._decoded()
        self._pending = bytearray(next(self._sound, b""))
        if not self._pending:
            raise PredtuiError(f"{self._path} has no sound in it.", "Choose another file.")

    def start(self, anew: bool = False) -> None:
        self.open()
        super().start()

    def read(self) -> bytes | None:
        while len(self._pending) < FRAME_BYTES:
            piece = next(self._sound, b"")
            if not piece:
                break
            self._pending += piece
        if not self._pending:
            return None
        super().read()
        frame = bytes(self._pending[:FRAME_BYTES]).ljust(FRAME_BYTES, b"\0")
        del self._pending[:FRAME_BYTES]
        return frame

    def close(self) -> None:
        self._sound = iter(())

    def _decoded(self) -> Iterator[bytes]:
        """Non-empty pieces of 16 kHz mono PCM, of ``LONGEST_SECONDS`` together. Damage at the start raises, later it
        ends the sound with a warning."""
        left = longest = round(LONGEST_SECONDS * RATE) * 2
        try:
            for piece in decode(self._path):
                if len(piece) > left:
                    self.warning = f"{self._path.name} is longer than a turn: playing its beginning."
                    yield piece[:left]
                    return
                left -= len(piece)
                yield piece
        except PredtuiError:
            if left == longest:
                raise
            self.warning = f"{self._path.name} is damaged: playing what is there."


def check_sound(path: Path) -> None:
    """Raises PredtuiError where a ``FileSource`` cannot play ``path``, or would play longer than a turn lasts."""
    path = resolve(path)
    source = FileSource(str(path), RealClock())
    source.open()
    if not source.warning and (seconds := duration(path)) > LONGEST_SECONDS:
        raise PredtuiError(
            f"{path} lasts {seconds / 60:.0f} minutes, and a turn {LONGEST_SECONDS / 60:.0f} at most.", "Cut it."
        )
