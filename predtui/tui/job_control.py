"""Ctrl+Z, as it is elsewhere: the whole job stops, and what started it, such as make, with it."""

from __future__ import annotations

import os
import signal
import sys

from textual.app import App


def has_shell() -> bool:
    """Whether there is a shell to go back to, which brings the job up again."""
    return sys.platform != "win32" and os.getpgrp() != os.getsid(0)


def stop_job(app: App[None]) -> None:
    """Gives the terminal back and stops the job."""
    if sys.platform != "win32" and app._driver is not None and app._driver.can_suspend:
        app.app_suspend_signal.publish(app)
        os.killpg(0, signal.SIGTSTP)
