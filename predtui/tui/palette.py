"""The command palette: every action by name. Decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SystemCommand

from predtui.tui.panes import topics

if TYPE_CHECKING:
    from predtui.tui.app import PredtuiApp


def commands(app: PredtuiApp) -> Iterator[SystemCommand]:
    """Those that do something here: a recording has no engine to ask."""
    if not app.read_only:
        yield from live_commands(app)
    yield SystemCommand("Help", "every key and every number (F1)", app.action_help)
    yield from one_each("Theme", "use and keep this theme", app.themes.names, app.themes.choose)
    yield from one_each("Explain", "what the numbers of this pane mean", topics(), app.pages.explain, discover=False)
    yield SystemCommand("Quit", "leave predtui (Ctrl+Q)", app.action_quit)


def live_commands(app: PredtuiApp) -> Iterator[SystemCommand]:
    yield SystemCommand("Talk", "start or stop talking (F2)", app.action_talk)
    yield SystemCommand("Silence", "stop the reply (Esc)", app.action_silence)
    yield SystemCommand("Model", "choose another language model (F4)", app.action_model)
    if app.offer and (size := app.offer.megabytes):
        meaning = f"get them, {size} MB: they hear people and talk about anything (F5)"
        yield SystemCommand("Real models", meaning, app.action_real)
    yield from one_each("Verifier", "verify candidates with this", app.verifiers.names, app.verifiers.choose)


def one_each(
    kind: str, meaning: str, names: Iterable[str], choose: Callable[[str], None], discover: bool = True
) -> Iterator[SystemCommand]:
    """A command for each name; those not to ``discover`` come up only when searched for."""
    for name in names:
        yield SystemCommand(f"{kind}: {name}", meaning, partial(choose, name), discover)
