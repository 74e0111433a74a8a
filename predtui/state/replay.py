"""A recorded session drives a screen, as the pipeline does from life. Must not know who looks, nor what sounds."""

from __future__ import annotations

from pathlib import Path

from predtui.clock import Clock
from predtui.errors import PredtuiError
from predtui.state import events as ev
from predtui.state.heard import Heard
from predtui.state.player import Player
from predtui.state.session import empty, find_session, read


class Replay(Player):
    """A player of what was recorded, which begins with the first turn."""

    def __init__(self, path: Path, clock: Clock | None = None, speed: float = 1.0) -> None:
        """Raises PredtuiError where there is no session, or what it begins with is not one's."""
        super().__init__(clock=clock, speed=speed)
        self.file = find_session(path)
        if next(read(self.file), None) is None:
            raise empty(self.file)
        self.heard = Heard()
        self._whole = False

    def start(self) -> None:
        """Reads the whole recording first. It may break in the middle, which becomes a notice."""
        try:
            for event in read(self.file, lazily=True):
                self._add(event)
        except PredtuiError as error:
            self._add(ev.Notice(text=str(error), severity="error"))
        self.end()
        self._whole = True
        super().start()
        self.home()
        self.toggle()

    def _add(self, event: ev.Event) -> None:
        self.heard.add(event, self.tape.add(event))

    @property
    def running(self) -> bool:
        """Whether there is more to come. True before the start."""
        return not self._whole or self.position.playing
