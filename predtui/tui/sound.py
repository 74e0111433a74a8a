"""Opens the sound check, in silence. Must not know how sound is played or heard."""

from __future__ import annotations

from typing import Any, Protocol

from textual.screen import Screen

from predtui.settings import Settings
from predtui.tui.driver import Requests
from predtui.tui.pages import Pages


class Host(Protocol):
    """What is needed of the app."""

    pages: Pages
    requests: Requests

    @property
    def settings(self) -> Settings: ...

    def push_screen(self, screen: Screen[Any]) -> Any: ...


def show(app: Host) -> None:
    """Of the devices that are used now. What is being said, or listened to, ends: the check would hear it, and be
    heard."""
    from predtui.audio.checking import Checking
    from predtui.tui.screens.sound import SoundScreen

    if not app.pages.open:
        app.requests.ask(lambda driver: driver.silence())
        app.push_screen(SoundScreen(lambda: Checking(app.settings.audio)))
