"""A sounddevice module without hardware: the test turns the crank that PortAudio's thread would turn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class PortAudioError(Exception):
    pass


class Stream:
    """Input or output, of 16-bit mono; ``feed`` and ``take`` stand for the device."""

    def __init__(self, owner: FakeSound, **options: Any) -> None:
        if owner.refuse:
            raise PortAudioError("Device unavailable")
        self.options = options
        self.active = False
        self.closed = False
        owner.streams.append(self)

    def start(self) -> None:
        self.active = True

    def close(self, ignore_errors: bool = True) -> None:
        self.active, self.closed = False, True

    def feed(self, pcm: bytes, lacking: bool = False) -> None:
        """``lacking``: some of the sound before was lost."""
        size = 2 * self.options["blocksize"]
        status = SimpleNamespace(input_overflow=True) if lacking else None
        for at in range(0, len(pcm), size):
            self.options["callback"](pcm[at : at + size], len(pcm[at : at + size]) // 2, None, status)

    def take(self, samples: int, dry: bool = False) -> bytes:
        """``dry``: the device has run dry before."""
        out = bytearray(b"\xff" * (2 * samples))
        status = SimpleNamespace(output_underflow=True) if dry else None
        self.options["callback"](memoryview(out), samples, None, status)
        assert len(out) == 2 * samples
        return bytes(out)


class FakeSound:
    """Put it into ``sys.modules["sounddevice"]``."""

    PortAudioError = PortAudioError

    def __init__(self, rates: tuple[int, ...] = (16000, 22050, 48000)) -> None:
        self.rates = rates
        self.refuse = False
        self.streams: list[Stream] = []
        self.restarts = 0
        self.default = SimpleNamespace(device=(1, 2))
        self.rows = [self.row("Built-in Mic", 2, 0), self.row("USB Headset", 1, 0), self.row("Speakers", 0, 2)]

    @staticmethod
    def row(name: str, inputs: int, outputs: int) -> dict[str, Any]:
        return {
            "name": name,
            "max_input_channels": inputs,
            "max_output_channels": outputs,
            "default_samplerate": 48000.0,
        }

    def query_devices(self) -> list[dict[str, Any]]:
        return self.rows

    def check_input_settings(self, samplerate: int, **_: Any) -> None:
        if samplerate not in self.rates:
            raise PortAudioError("Invalid sample rate")

    check_output_settings = check_input_settings

    def RawInputStream(self, **options: Any) -> Stream:  # noqa: N802
        return Stream(self, **options)

    RawOutputStream = RawInputStream

    def _terminate(self) -> None:
        self.restarts += 1

    def _initialize(self) -> None:
        assert self.restarts
