"""Which driver of Textual's runs the terminal. Must not know what it is for."""

from __future__ import annotations

import sys

from textual.driver import Driver


def telling_releases(kind: type[Driver]) -> type[Driver]:
    """The driver of this kind that learns when the talk key is let go, where there is one."""
    if sys.platform == "win32":
        return kind
    from textual.drivers.linux_driver import LinuxDriver

    from predtui.tui.unix_terminal import TalkTerminal

    return TalkTerminal if kind is LinuxDriver else kind
