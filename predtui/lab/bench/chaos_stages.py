"""Sound devices of ``predtui bench chaos``: a microphone before which sound files are played, and a loudspeaker that
nobody hears. Both are there while the bench wants them to be. Must not know what is done to the app.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from predtui.audio.mic import MicrophoneStage
from predtui.audio.playback import NullLoudspeaker
from predtui.audio.player import PlayerStage
from predtui.audio.sources import FileSource, NullSource
from predtui.clock import Clock
from predtui.errors import PredtuiError
from predtui.state.stage import StageSpec


@dataclass(frozen=True, slots=True)
class Devices:
    """What bench and stages tell each other, as files of ``folder``."""

    folder: str

    def say(self, sound: Path) -> None:
        """Play ``sound`` when the microphone listens next."""
        (Path(self.folder) / "say").write_text(str(sound), encoding="utf-8")

    def said(self) -> str:
        """The file to be played; empty where there is none."""
        file = Path(self.folder) / "say"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def lose(self, name: str, lost: bool) -> None:
        """Pull out the "microphone" or the "loudspeaker", or plug it in."""
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
    """A sound file once for each utterance, and silence behind it."""

    def __init__(self, devices: Devices, clock: Clock) -> None:
        super().__init__(clock)
        self._devices, self._room_clock = devices, clock
        self._file: FileSource | None = None

    def open(self) -> None:
        self._devices.check("microphone")

    def start(self) -> None:
        self.open()
        super().start()
        said = self._devices.said()
        self._file = FileSource(said, self._room_clock) if said else None
        if self._file:
            self._file.start()

    def read(self) -> bytes | None:
        self._devices.check("microphone")
        frame = self._file.read() if self._file else None
        if frame is None and self._file:
            self._file = None
            super().start()
        return super().read() if frame is None else frame


class _Loudspeaker(NullLoudspeaker):
    def __init__(self, devices: Devices, clock: Clock) -> None:
        super().__init__(clock)
        self._devices = devices

    def write(self, pcm: bytes, rate: int) -> None:
        self._devices.check("loudspeaker")
        super().write(pcm, rate)


def microphone(devices: Devices) -> MicrophoneStage:
    """The stage "mic"."""
    return MicrophoneStage(700, lambda clock: _Room(devices, clock))


def player(devices: Devices) -> PlayerStage:
    """The stage "player"."""
    return PlayerStage(lambda clock: _Loudspeaker(devices, clock))
