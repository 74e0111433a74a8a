"""Going to and fro in time: in a recording, or back in what the session has seen. A function for each key.

Must not know how a time is shown, nor how the Turn of a time is found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from predtui.state.player import Player
from predtui.tui.screens.main import MainScreen

if TYPE_CHECKING:
    from predtui.runtime.replay_sound import ReplaySound
    from predtui.tui.app import PredtuiApp


class Scrubbing:
    """What is played, where something is, and its sound."""

    def __init__(self, player: Player | None = None, sound: ReplaySound | None = None) -> None:
        self.player, self.sound = player, sound

    def lacking(self) -> str:
        """Why nothing is heard; empty where something is."""
        return self.sound.lacks if self.sound else "no sound"

    def begin(self, main: MainScreen, tell: Callable[[str], None]) -> None:
        """The screen is up: in a recording, it shows where one is. ``tell`` takes a line on what is missing."""
        if self.player:
            main.follow_time(self.player, self.lacking)
        if self.sound:
            self.sound.start(tell)


def active(app: PredtuiApp) -> bool:
    """Whether the keys of this file act: over a page, they belong to the page."""
    return app.scrub.player is not None and isinstance(app.screen, MainScreen)


def pause(app: PredtuiApp) -> None:
    _player(app).toggle()


def verdict(app: PredtuiApp) -> None:
    _player(app).jump("verdict", 1)


def verdict_before(app: PredtuiApp) -> None:
    _player(app).jump("verdict", -1)


def turn(app: PredtuiApp) -> None:
    _player(app).jump("turn", 1)


def turn_before(app: PredtuiApp) -> None:
    _player(app).jump("turn", -1)


def step(app: PredtuiApp) -> None:
    _player(app).step(1)


def step_back(app: PredtuiApp) -> None:
    _player(app).step(-1)


def faster(app: PredtuiApp) -> None:
    _player(app).change_speed(1)


def slower(app: PredtuiApp) -> None:
    _player(app).change_speed(-1)


def home(app: PredtuiApp) -> None:
    _player(app).home()


def end(app: PredtuiApp) -> None:
    _player(app).end()


def _player(app: PredtuiApp) -> Player:
    assert app.scrub.player  # else no key leads here
    return app.scrub.player
