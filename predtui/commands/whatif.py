"""``predtui whatif``: a recorded turn asked again with other settings, and both told side by side."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection
from pathlib import Path

from rich.table import Table
from rich.text import Text

from predtui.commands.console import console
from predtui.runtime.whatif import as_recorded, ask_again
from predtui.settings import Settings
from predtui.state.asked import asked
from predtui.state.session import read, recorded_on
from predtui.state.turn import Turn
from predtui.system.machine import machine
from predtui.tui import comparison

HEIGHT = 6
"""Rows of a timeline."""
BESIDE = 120
"""Columns from which both timelines stand side by side."""


def what_if(settings: Settings, given: Collection[str], session: Path, number: int) -> int:
    """The exit status. ``given``: the settings that the command line names; what it
    does not name is as it was recorded, as far as that is known. Raises PredtuiError."""
    turn = asked(read(session, lazily=True), number)
    again = ask_again(turn, as_recorded(turn.turn, settings, given), _tell)
    _show(turn.turn, again, comparison.findings(turn.turn, again, recorded_on(session), machine()))
    return 0


def _tell(line: str) -> None:
    print(f"what if: {line} …", file=sys.stderr, flush=True)


def _show(recorded: Turn, again: Turn, findings: list[str]) -> None:
    screen = console()
    screen.print(f"turn {recorded.number}: {recorded.prompt}\n")
    table = Table(
        "", comparison.RECORDED, comparison.AGAIN, "difference", box=None, pad_edge=False, padding=(0, 3, 0, 0)
    )
    for row in comparison.rows(recorded, again):
        table.add_row(*map(Text, row))
    screen.print(table)
    columns = shutil.get_terminal_size((100, 24)).columns
    beside = columns >= BESIDE
    width = (columns - 3) // 2 if beside else columns
    pictures = comparison.pictures(recorded, again, width, HEIGHT)
    first, second = ([line.plain for line in lines] for lines in pictures)
    screen.print()
    if beside:
        lines = [comparison.RECORDED.ljust(width) + "   " + comparison.AGAIN]
        lines += [f"{left:<{width}}   {right}" for left, right in zip(first, second, strict=False)]
    else:
        lines = [comparison.RECORDED, *first, "", comparison.AGAIN, *second]
    for line in [*lines, "", *findings]:
        screen.print(line.rstrip(), soft_wrap=True)
