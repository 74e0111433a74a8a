"""Saves the conversation, or the screen as it is, as a file in the folder that predtui was started in. Must not know
what the text of such a file is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from predtui.errors import PredtuiError, reason
from predtui.files import replace_text
from predtui.state.exchange import Exchange

if TYPE_CHECKING:
    from predtui.tui.app import PredtuiApp


def markdown(app: PredtuiApp) -> None:
    _save(app, ".md")


def as_json(app: PredtuiApp) -> None:
    _save(app, ".json")


def screenshot(app: PredtuiApp) -> None:
    """As SVG, once what lies over it is gone."""
    app.call_after_refresh(app.call_later, _save_screen, app)


def save_picture(folder: Path, svg: str) -> Path:
    """Under a new name that says when; returns where. Raises PredtuiError."""
    from predtui.state.kept.export import new_file

    path = new_file(folder, ".svg", datetime.now())
    try:
        replace_text(path, svg)
    except OSError as error:
        raise PredtuiError(f"{path} cannot be written: {reason(error)}.", "Choose another folder.") from error
    return path


def save_in(folder: Path, exchanges: Sequence[Exchange], suffix: str, name: str = "") -> Path:
    """In a new file that says when, and the session's ``name``; returns where. Raises PredtuiError."""
    from predtui.state.kept.export import new_file, save

    return save(exchanges, new_file(folder, suffix, datetime.now(), name), name)


def day(seconds: float) -> str:
    """A time of the epoch, as 2026-11-23 07:45."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def _save(app: PredtuiApp, suffix: str) -> None:
    present = app.keeper.session if app.keeper else 0
    _write(app, lambda: save_in(Path.cwd(), app.turn.lasting, suffix, _name(present)))


def _name(session: int) -> str:
    """Of a session that is kept; a conversation is saved without it where that cannot be read."""
    from predtui.state.kept.store import kept

    with suppress(PredtuiError), kept() as store:
        return store.find(str(session)).name if session else ""
    return ""


def _save_screen(app: PredtuiApp) -> None:
    svg = app.export_screenshot()
    _write(app, lambda: save_picture(Path.cwd(), svg))


def _write(app: PredtuiApp, write: Callable[[], Path]) -> None:
    def job() -> None:
        try:
            app.raise_notice(f"saved as {write()}", "information")
        except (PredtuiError, OSError) as error:
            app.raise_notice(str(error), "warning")

    app.run_worker(job, group="saving", thread=True, exit_on_error=False)
