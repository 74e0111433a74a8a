"""Opens the table of drafters. Must not know how it looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from predtui.tui.app import PredtuiApp


def show(app: PredtuiApp) -> None:
    """On the turn that is shown, in a recording too."""
    from predtui.tui.screens.drafters import DraftersScreen

    if not app.pages.open:
        app.push_screen(DraftersScreen(lambda: app.turn.decoding))
