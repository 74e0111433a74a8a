"""``predtui sessions``: the conversations that are kept. Imports no screen, and SQLite only when asked."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predtui.commands.outputs import writable
from predtui.commands.with_settings import Commands
from predtui.errors import PredtuiError
from predtui.foreign import printable
from predtui.state.exchange import Exchange

if TYPE_CHECKING:
    from predtui.state.kept.store import Session, Store

sessions = Commands(help="Kept conversations: list, show, export, rename, delete.", no_args_is_help=True)
Named = Annotated[str, typer.Argument(help="The number of a session; default: the one used last.")]
LAST, RESUME = "last", "--resume"
_TITLE = 60


@sessions.command("list")
def list_(words: Annotated[str, typer.Argument(help="Only those in which this was said.")] = "") -> None:
    """The sessions, the one used last first: number, time, turns, name or first prompt."""
    found = _kept().sessions(words)
    for one in found:
        print(line(one))
    if not found:
        print(f"Nobody has said {words!r}." if words else "No conversation is kept any more.")


@sessions.command()
def show(session: Named = LAST) -> None:
    """What was said, as Markdown."""
    from predtui.state.kept.export import markdown

    print(markdown(*_found(session)), end="")


@sessions.command()
def export(
    session: Named = LAST,
    file: Annotated[
        Path | None,
        typer.Option("--out", help="NAME.md or NAME.json; default: standard output.", callback=writable),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="JSON on standard output, instead of Markdown.")] = False,
) -> None:
    """Take a session along, as Markdown or JSON."""
    from predtui.state.kept.export import FORMATS, save

    exchanges, name = _found(session)
    if file is None:
        print(FORMATS[".json" if json else ".md"](exchanges, name), end="")
    else:
        print(f"Saved as {save(exchanges, file, name)}")


@sessions.command()
def rename(
    session: Annotated[str, typer.Argument(help="The number of a session, or last.")],
    name: Annotated[str, typer.Argument(help="Its name; '': its first prompt.")],
) -> None:
    """Give a session a name, by which it is listed and found."""
    store = _kept()
    number = store.find(session).number
    store.rename(number, name)
    print(line(store.find(str(number))).strip())


@sessions.command()
def delete(
    session: Annotated[list[str], typer.Argument(help="Numbers of sessions, or last.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete sessions for good: their words are overwritten."""
    store = _kept()
    for one in [store.find(named) for named in session]:
        if yes or _confirmed(one):
            store.delete(one.number)
            print(f"Deleted: {line(one).strip()}")


def line(session: Session) -> str:
    """One row of the list."""
    when = datetime.fromtimestamp(session.last).strftime("%Y-%m-%d %H:%M")
    turns = f"{session.turns} turn{'s' * (session.turns != 1)}"
    title = printable(session.title)
    short = title if len(title) <= _TITLE else f"{title[: _TITLE - 1]}…"
    return f"{session.number:>4}  {when}  {turns:>10}  {short}"


def resumable(arguments: Sequence[str]) -> list[str]:
    """Command-line arguments in which ``--resume`` without a number means the last session."""
    pairs = pairwise([*arguments, ""])
    return [f"{word}={LAST}" if word == RESUME and not after.isdigit() else word for word, after in pairs]


def _confirmed(session: Session) -> bool:
    if not sys.stdin.isatty():
        raise PredtuiError("nobody can be asked here whether to delete it.", "Say so: --yes")
    return typer.confirm(f"Delete {line(session).strip()}?")


def _found(named: str) -> tuple[Sequence[Exchange], str]:
    """The exchanges of a session, and its name."""
    store = _kept()
    session = store.find(named)
    return store.exchanges(session.number), session.name


def _kept() -> Store:
    from predtui.state.kept.store import kept

    return kept()
