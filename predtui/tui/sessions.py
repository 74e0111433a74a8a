"""Goes from one conversation to another. Must not know how they are kept, nor how a list of them looks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from predtui.tui.app import PredtuiApp
    from predtui.tui.screens.sessions import Chosen


def show(app: PredtuiApp) -> None:
    """The list of what is kept."""
    from predtui.state.kept.store import kept
    from predtui.tui.screens.sessions import SessionsScreen

    if not app.pages.open:
        present = app.keeper.session if app.keeper else 0
        app.push_screen(SessionsScreen(kept, present, Path.cwd()), lambda chosen: _go_on(app, chosen))


def begin(app: PredtuiApp) -> None:
    """A new conversation: the model remembers nothing of this one, which stays kept."""
    _go_on(app, (0, ()))


def search(app: PredtuiApp) -> None:
    """Earlier prompts; the one that is chosen stands in the input line."""
    from predtui.tui.screens.search import SearchScreen
    from predtui.tui.widgets.prompt import PromptLine

    prompt = app.query_one(PromptLine)
    if not app.pages.open:
        app.push_screen(SearchScreen(prompt.recall.matching, prompt.value), prompt.take)


def _go_on(app: PredtuiApp, chosen: Chosen | None) -> None:
    if chosen is None:
        return
    number, exchanges = chosen
    app.requests.ask(lambda driver: driver.resume(number, exchanges))
