"""Opens the screen of all settings. Must not know how one is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from predtui.tui.app import PredtuiApp


def show(app: PredtuiApp) -> None:
    """With what was changed by keys of its own."""
    from predtui.tui.screens.settings import SettingsScreen

    app.dials.note({"ui.theme": app.themes.asked, "llm.verifier": app.verifiers.chosen})
    if not app.pages.open:
        app.push_screen(SettingsScreen(app.dials, app.themes))
