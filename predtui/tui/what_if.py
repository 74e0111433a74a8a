"""Opens "what if" on the turn that is looked at, in a recording or back in the session. Must not know how it looks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from predtui.errors import PredtuiError
from predtui.settings import Settings
from predtui.state.asked import Asked, asked
from predtui.state.replay import Replay
from predtui.state.session import read, recorded_on
from predtui.state.turn import Turn
from predtui.system.machine import machine

if TYPE_CHECKING:
    from predtui.state.player import Player
    from predtui.tui.app import PredtuiApp


def show(app: PredtuiApp) -> None:
    """The page; or a notice on why that turn cannot be asked again."""
    from predtui.runtime.whatif import as_recorded
    from predtui.tui.screens.whatif import WhatIfScreen

    player = app.scrub.player
    if player is None:
        return
    try:
        turn, on = _looked_at(player)
    except PredtuiError as error:
        app.show_notice(str(error), "warning")
        return
    app.push_screen(WhatIfScreen(turn.turn, as_recorded(turn.turn, app.settings), partial(_again, turn, on)))


def _looked_at(player: Player) -> tuple[Asked, str]:
    """The turn, and the machine that it ran on. Raises PredtuiError."""
    number, tape = player.state.number, player.tape
    if isinstance(player, Replay):
        return asked(read(player.file, lazily=True), number), recorded_on(player.file)
    return asked((tape[place] for place in range(len(tape))), number, tape.state(0)), machine()


def _again(
    turn: Asked, on: str, settings: Settings, tell: Callable[[str], None], stopped: threading.Event
) -> tuple[Turn, Sequence[str]]:
    from predtui.runtime.whatif import ask_again
    from predtui.tui.comparison import findings

    again = ask_again(turn, settings, tell, stopped)
    return again, findings(turn.turn, again, on, machine())
