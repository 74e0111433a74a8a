"""Which driver of Textual's runs the terminal. Must not know what it is for."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from textual.driver import Driver


def forget_exported_size() -> None:
    """COLUMNS and LINES that somebody exported stay as they were when the terminal changes, and Textual and Rich ask
    them first. Where the terminal tells its size, they count no more."""
    with suppress(OSError, ValueError, AttributeError):
        if sys.__stdin__ and all(os.get_terminal_size(sys.__stdin__.fileno())):
            os.environ.pop("COLUMNS", None)
            os.environ.pop("LINES", None)


def telling_releases(kind: type[Driver]) -> type[Driver]:
    """The driver of this kind that learns when the talk key is let go, where there is one."""
    if sys.platform == "win32":
        return kind
    from textual.drivers.linux_driver import LinuxDriver

    from predtui.tui.unix_terminal import TalkTerminal

    return TalkTerminal if kind is LinuxDriver else kind
