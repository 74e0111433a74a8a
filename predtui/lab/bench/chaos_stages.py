"""Sound devices of ``predtui bench chaos``: a microphone before which sound files are played, and a loudspeaker that
nobody hears. Both are there while the bench wants them to be. Must not know what is done to the app.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from predtui.audio.mic import MicrophoneStage
from predtui.audio.playback import NullLoudspeaker
from predtui.audio.player import PlayerStage
from predtui.audio.resample import FRAME, FRAME_BYTES, RATE
from predtui.audio.sources import NullSource
from predtui.clock import Clock
from predtui.errors import PredtuiError
from predtui.state.stage import StageSpec


@dataclass(frozen=True, slots=True)
class Devices:
    """What bench and stages tell each other, as files of ``folder``."""

    folder: str

    def say(self, sound: Path, time: float) -> None:
        """Play ``sound`` (mono, 16 bit, 16 kHz) from ``time`` on, in seconds of the monotonic clock."""
        (Path(self.folder) / "say").write_text(f"{time} {sound}", encoding="utf-8")

    def said(self) -> tuple[float, str]:
        """When the last was begun to be played, and the file; empty where there is none."""
        file = Path(self.folder) / "say"
        time, _, sound = (file.read_text(encoding="utf-8") if file.exists() else "0 ").partition(" ")
        return float(time), sound

    def lose(self, name: str, lost: bool) -> None:
        """Pull out the "microphone" or the "loudspeaker", or plug it in; or make the disk "slow", or fast again."""
        file = Path(self.folder) / name
        file.touch() if lost else file.unlink(missing_ok=True)

    def check(self, name: str) -> None:
        """Raises PredtuiError where it is pulled out."""
        if (Path(self.folder) / name).exists():
            raise PredtuiError(f"the {name} has gone.", "Plug it in again, or choose another.")

    def stages(self) -> tuple[StageSpec, ...]:
        return (
            StageSpec("mic", "predtui.lab.bench.chaos_stages:microphone", self),
            StageSpec("player", "predtui.lab.bench.chaos_stages:player", self),
        )


class _Room(NullSource):
    """A sound file as it is played in a room: who listens later misses its beginning. Silence before and behind it."""

    def __init__(self, devices: Devices, clock: Clock) -> None:
        super().__init__(clock)
        self._devices, self._room_clock = devices, clock
        self._frames: list[bytes] = []
        self._at = 0

    def open(self) -> None:
        self._devices.check("microphone")

    def start(self, anew: bool = False) -> None:
        self.open()
        began, sound = self._devices.said()
        self._frames = _frames(sound) if sound else []
        super().start()
        self._at = round((self._room_clock.now() - began) * RATE / FRAME)

    def read(self) -> bytes | None:
        self._devices.check("microphone")
        silence, at = super().read(), self._at
        self._at += 1
        return self._frames[at] if 0 <= at < len(self._frames) else silence


def _frames(sound: str) -> list[bytes]:
    pcm = Path(sound).read_bytes()
    return [pcm[at : at + FRAME_BYTES].ljust(FRAME_BYTES, b"\0") for at in range(0, len(pcm), FRAME_BYTES)]


class _Loudspeaker(NullLoudspeaker):
    def __init__(self, devices: Devices, clock: Clock) -> None:
        super().__init__(clock)
        self._devices = devices

    def look(self) -> None:
        self._devices.check("loudspeaker")

    def write(self, pcm: bytes, rate: int) -> None:
        self._devices.check("loudspeaker")
        super().write(pcm, rate)


def microphone(devices: Devices) -> MicrophoneStage:
    """The stage "mic"."""
    return MicrophoneStage(700, lambda clock: _Room(devices, clock))


def player(devices: Devices) -> PlayerStage:
    """The stage "player"."""
    return PlayerStage(lambda clock: _Loudspeaker(devices, clock))
