"""What opens over the main screen, one at a time: the help, what the numbers of a pane mean, the choice of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from textual.app import App
from textual.screen import Screen

from predtui.models.places import inventory
from predtui.state.turn import Turn
from predtui.tui.choices import ModelChoice
from predtui.tui.widgets.pane import Pane
from predtui.tui.widgets.pull import PullBar
from predtui.tui.widgets.stages import loaded_model


class Pages:
    """Opens pages where none is open. Their screens are imported once they are asked for."""

    def __init__(self, app: App[None]) -> None:
        self._app = app

    @property
    def open(self) -> bool:
        return len(self._app.screen_stack) > 1

    def help(self) -> None:
        """Every key and every number; closes what is read where something is."""
        from predtui.tui.screens.reading import ReadingScreen, help_screen

        if isinstance(self._app.screen, ReadingScreen):
            self._app.pop_screen()
        elif not self.open:
            self._app.push_screen(help_screen())

    def explain(self, topic: str) -> None:
        """The numbers of one pane."""
        from predtui.tui.screens.reading import topic_screen

        if not self.open:
            self._app.push_screen(topic_screen(topic))

    def choose_model(self, model: ModelChoice, turn: Callable[[], Turn], folder: str) -> None:
        """Offers the models that ship and those of every place, ``folder`` among them. ``turn``: the latest, which
        knows what answers now."""
        from predtui.tui.screens.models import ModelScreen

        def present() -> str:
            return loaded_model(turn().stages)[0]

        def choose(path: str | None) -> None:
            if path and path != present():
                model.choose(path)

        if not self.open:
            bar = self._app.screen.query_one(PullBar)
            self._app.push_screen(ModelScreen(present(), model.chosen, partial(inventory, folder), bar), choose)


class Host(Protocol):
    """What is needed of the app."""

    pages: Pages

    @property
    def screen_stack(self) -> Sequence[Screen[Any]]: ...


def keys(app: Host) -> None:
    """The keys that act where one is, beside the panes; or no longer."""
    from textual.widgets import HelpPanel

    screen = app.screen_stack[0]
    if shown := screen.query(HelpPanel):
        shown.remove()
    else:
        screen.mount(HelpPanel())


def of_focused(app: Host) -> None:
    """What the numbers mean of the pane that has the focus."""
    focused = app.screen_stack[0].focused
    app.pages.explain(focused.TOPIC if isinstance(focused, Pane) else "timeline")
