"""Going to and fro in time: in a recording, or back in what the session has seen. A function for each key.

Must not know how a time is shown, nor how the Turn of a time is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from textual.events import Key
from textual.message import Message
from textual.screen import Screen

from predtui.state.events import Event, Verdict
from predtui.state.player import Player
from predtui.state.turn import Turn
from predtui.tui.actions import keys_in_time
from predtui.tui.frames import Frames
from predtui.tui.messages import TimeMoved
from predtui.tui.pages import Pages
from predtui.tui.screens.main import MainScreen

if TYPE_CHECKING:
    from predtui.runtime.replay_sound import ReplaySound
    from predtui.state.memory import Memory


class Scrubbing:
    """What is played, where something is, and its sound; and, in a session that goes on, what it remembers."""

    def __init__(
        self, player: Player | None = None, sound: ReplaySound | None = None, memory: Memory | None = None
    ) -> None:
        self.player, self.sound, self.memory = player, sound, memory

    @property
    def past(self) -> Turn | None:
        """What is seen of a session that goes on; None: what is now."""
        return self.player.state if self.memory and self.player else None

    def lacking(self) -> str:
        """Why nothing is heard; empty where something is."""
        return self.sound.lacks if self.sound else "no sound"

    def begin(self, main: MainScreen, tell: Callable[[str], None]) -> None:
        """The screen is up: in a recording, it shows where one is. ``tell`` takes a line on what is missing."""
        if self.player:
            main.follow_time(self.player, self.lacking)
        if self.sound:
            self.sound.start(tell)


class Host(Protocol):
    """What is needed of the app."""

    scrub: Scrubbing
    pages: Pages
    frames: Frames

    @property
    def screen(self) -> Screen[Any]: ...

    @property
    def screen_stack(self) -> Sequence[Screen[Any]]: ...

    def post_message(self, message: Message) -> bool: ...

    def show_notice(self, text: str, severity: str = ...) -> None: ...


def active(app: Host) -> bool:
    """Whether the keys of this file act: over a page, they belong to the page."""
    return app.scrub.player is not None and isinstance(app.screen, MainScreen)


def look_back(app: Host) -> None:
    """Shows what was, from now back, as far as it is remembered, and again what is. Nothing that goes on is held up."""
    if leave(app) or app.scrub.memory is None or app.pages.open:
        return
    app.scrub.player = player = Player(app.scrub.memory.tape())

    def tell(event: Event) -> None:
        app.post_message(TimeMoved())

    player.subscribe(tell)
    player.start()
    _show(app, player)


def look_at(app: Host, verdict: Verdict) -> None:
    """Shows the moment of ``verdict``: its guess, and what fell."""
    if app.scrub.player is None:
        look_back(app)
    if app.scrub.player and not app.scrub.player.behind(verdict):
        leave(app)
        app.show_notice("that verdict is no longer remembered")


def leave(app: Host) -> bool:
    """Back to now; whether one was elsewhere."""
    player = app.scrub.player
    if app.scrub.memory is None or player is None:
        return False
    app.scrub.player = None
    player.stop()
    _show(app, None)
    return True


def words_typed(app: Host, keys: Iterable[Key]) -> None:
    """Words are meant for now."""
    if any(key.key not in keys_in_time() for key in keys):
        leave(app)


def pause(app: Host) -> None:
    _player(app).toggle()


def verdict(app: Host) -> None:
    _player(app).jump("verdict", 1)


def verdict_before(app: Host) -> None:
    _player(app).jump("verdict", -1)


def turn(app: Host) -> None:
    _player(app).jump("turn", 1)


def turn_before(app: Host) -> None:
    _player(app).jump("turn", -1)


def step(app: Host) -> None:
    _player(app).step(1)


def step_back(app: Host) -> None:
    _player(app).step(-1)


def faster(app: Host) -> None:
    _player(app).change_speed(1)


def slower(app: Host) -> None:
    _player(app).change_speed(-1)


def home(app: Host) -> None:
    _player(app).home()


def end(app: Host) -> None:
    _player(app).end()


def _show(app: Host, player: Player | None) -> None:
    """What was, where ``player`` is in it; None: what is."""
    cast(MainScreen, app.screen_stack[0]).follow_time(player, live=True)
    app.frames.request()


def _player(app: Host) -> Player:
    assert app.scrub.player  # else no key leads here
    return app.scrub.player
