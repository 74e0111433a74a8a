"""What a person does to the panes: zoom, hide, resize, presets. Must not know how widgets are laid out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, cast

from textual.screen import Screen

from predtui.config import remember
from predtui.errors import PredtuiError
from predtui.settings import Settings
from predtui.tui.arranging import grown
from predtui.tui.choices import following
from predtui.tui.driver import Requests
from predtui.tui.layout import PRESETS, Layout, layout
from predtui.tui.screens.main import MainScreen
from predtui.tui.watching import tell
from predtui.tui.widgets.pane import Pane

STEP = 3
"""Columns by which a key moves a border; rows are moved by one."""
SOON = 0.5
"""Seconds after which a choice is kept, unless another follows."""


class Host(Protocol):
    """What is needed of the app."""

    requests: Requests

    @property
    def settings(self) -> Settings: ...

    @property
    def screen_stack(self) -> Sequence[Screen[Any]]: ...

    def show_notice(self, text: str, severity: str = "information") -> None: ...

    def set_timer(self, delay: float, callback: Callable[[], Any]) -> Any: ...


def begin(app: Host) -> tuple[Layout, Callable[[Layout], None], Callable[[bool], None]]:
    """What was kept, what keeps another choice, and what takes whether utilisation is seen."""
    ui = app.settings.ui
    return layout(ui.preset, ui.toggled, ui.sizes), partial(_keep_soon, app), partial(tell, app.requests)


def _keep_soon(app: Host, chosen: Layout) -> None:
    """In the user's settings, once nothing else is chosen."""
    app.set_timer(SOON, partial(_keep, app, chosen))


def _keep(app: Host, chosen: Layout) -> None:
    if app.screen_stack and _main(app).layout_of_panes is chosen and not chosen.zoomed:
        try:
            for key, value in chosen.kept.items():
                remember(key, value)
        except PredtuiError as error:
            app.show_notice(str(error), "warning")


def zoom(app: Host) -> None:
    """The pane that has the focus, or back."""
    screen = _main(app)
    pane, now = _focused(screen), screen.layout_of_panes
    screen.lay_out(now.zoom(now.zoomed or (pane.TOPIC if pane else "conversation")))


def hide(app: Host) -> None:
    """The pane that has the focus."""
    screen = _main(app)
    if pane := _focused(screen):
        toggle(app, pane.TOPIC)


def toggle(app: Host, pane: str) -> None:
    screen = _main(app)
    screen.lay_out(screen.layout_of_panes.toggle(pane))
    shown = screen.layout_of_panes.shows(pane)
    app.show_notice(f"{pane} is {'shown, where there is room' if shown else 'hidden: Shift+X shows all panes again'}")


def show_all(app: Host) -> None:
    """As at the very first: every pane, and at its own size."""
    _main(app).lay_out(Layout())
    app.show_notice("all panes, at their own sizes")


def figures(app: Host) -> None:
    """In the panes, or plain words alone."""
    screen = _main(app)
    screen.lay_out(screen.layout_of_panes.turn_figures())
    app.show_notice("figures: NFE and RTF, too" if screen.layout_of_panes.figured else "figures: plain words alone")


def next_preset(app: Host) -> None:
    choose(app, following(PRESETS, _main(app).layout_of_panes.preset))


def choose(app: Host, preset: str) -> None:
    screen = _main(app)
    screen.lay_out(replace(screen.layout_of_panes, preset=preset, toggled=frozenset(), zoomed=""))
    app.show_notice(f"panes: {preset}")


def taller(app: Host) -> None:
    _grow(app, True, 1)


def shorter(app: Host) -> None:
    _grow(app, True, -1)


def wider(app: Host) -> None:
    _grow(app, False, STEP)


def narrower(app: Host) -> None:
    _grow(app, False, -STEP)


def _grow(app: Host, vertical: bool, by: int) -> None:
    screen = _main(app)
    pane = _focused(screen)
    if pane:
        before = screen.layout_of_panes
        screen.lay_out(grown(screen, before, pane, vertical, by))
        if screen.layout_of_panes is before:
            app.show_notice("there is no border to move here: z shows this pane alone")


def _main(app: Host) -> MainScreen:
    return cast(MainScreen, app.screen_stack[0])


def _focused(screen: MainScreen) -> Pane[Any] | None:
    return screen.focused if isinstance(screen.focused, Pane) else None
