"""Ctrl+Z, as it is elsewhere: the whole job stops, and what started it, such as make, with it."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from textual.app import App

from predtui.tui.frames import call_after

if TYPE_CHECKING:
    from predtui.tui.app import PredtuiApp


def has_shell() -> bool:
    """Whether there is a shell to go back to, which brings the job up again."""
    return sys.platform != "win32" and os.getpgrp() != os.getsid(0)


LAST_WORDS = 0.1
"""Seconds that the last requests have to reach the engines, before the app stops."""


def suspend(app: PredtuiApp) -> None:
    """Stops the whole job. Nobody is listened to meanwhile. Without a shell to come back from, it goes on."""
    if not has_shell():
        app.show_notice("there is no shell to go back to: Ctrl+Q quits", "warning")
        return
    if not app.read_only and (app.turn.phase == "listening" or app.turn.audible):
        app.requests.ask(lambda driver: driver.silence())
    call_after(app, LAST_WORDS, lambda: stop_job(app))


def stop_job(app: App[None]) -> None:
    """Gives the terminal back and stops the job."""
    if sys.platform != "win32" and app._driver is not None and app._driver.can_suspend:
        app.app_suspend_signal.publish(app)
        os.killpg(0, signal.SIGTSTP)
