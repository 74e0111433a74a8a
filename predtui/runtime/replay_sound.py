"""Lets the sound of a recording be heard while it is played at the speed at which it was: what was said, and the replies.

Must not know the screen. On a thread of its own, which looks where the player is: a jump or a pause ends what sounds.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from predtui.errors import PredtuiError
from predtui.state.heard import Heard, Stretch
from predtui.state.player import Position

if TYPE_CHECKING:
    from predtui.audio.playback import Output

LOOK_S = 0.03
"""Seconds between two looks at the player."""
MUTE = "mute"


class Playing(Protocol):
    """A player with sound."""

    heard: Heard

    @property
    def position(self) -> Position: ...


class ReplaySound:
    """``lacks``: why nothing is heard, in a word or two; empty while it is."""

    def __init__(self, player: Playing, make: Callable[[], Output], mute: bool = False) -> None:
        """``make`` opens what plays. It raises PredtuiError where there is nothing."""
        self._player, self._make = player, make
        self.lacks = MUTE if mute else ""
        self.problem = ""
        """What is to be done about it, in a line."""
        self._now: tuple[Stretch | None, int] = (None, 0)
        """What sounds, and the player's jumps by then."""
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="replay sound", daemon=True)

    def start(self) -> None:
        if not self.lacks:
            self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        output: Output | None = None
        try:
            output = self._make()
            while not self._stopped.wait(LOOK_S):
                self.follow(output)
        except PredtuiError as error:
            self.lacks, self.problem = "no loudspeaker", f"{error} The replay has no sound."
        finally:
            if output:
                output.close()

    def follow(self, output: Output) -> None:
        """Begins what is to be heard now, and ends what no longer is. Raises PredtuiError where the device has gone."""
        position = self._player.position
        audible = position.playing and position.speed == 1.0
        stretch = self._player.heard.at(position.moment) if audible else None
        former, now = self._now, (stretch, position.jumps)
        if now == former or (stretch is None and former[1] == position.jumps):  # what has ended, ends by itself
            return
        self._now = now
        output.stop()
        if stretch:
            output.write(stretch.since(position.moment), stretch.rate)
            output.finish()


def loudspeaker(name: str) -> Callable[[], Output]:
    """Opens that of this name."""

    def made() -> Output:
        from predtui.audio.devices import NO_DEVICE, switched_off
        from predtui.audio.playback import Loudspeaker

        if name == NO_DEVICE:
            raise PredtuiError(switched_off("output"))
        output = Loudspeaker(name)
        output.open()
        return output

    return made
