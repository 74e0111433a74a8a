"""What every benchmark's JSON has in common: the command, the machine, a file. Must not know what is measured."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from predtui.commands import console as commands

_OUTPUTS = ("--json", "--plot", "--markdown")
_WIDE = 150
"""Columns of what is no terminal: no table loses any."""


def machine(threads: int = 0) -> str:
    """Processor and cores, as a table's caption names them; ``threads`` used, where it matters."""
    name = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), name)
    used = f", {threads} threads used" if threads else ""
    return f"{name}, {os.cpu_count()} cores{used}"


def command() -> str:
    """The command that is running, as a person would type it; where its figures go does not matter."""
    given, kept = iter(sys.argv[1:]), ["predtui"]
    for argument in given:
        if argument in _OUTPUTS:
            next(given, None)
        elif not argument.startswith(tuple(f"{name}=" for name in _OUTPUTS)):
            kept.append(argument)
    return " ".join(kept)


def console() -> Console:
    """Where the tables go: as wide as the terminal, or as they need where there is none and nobody says."""
    return commands.console(None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDE)


def drawn(cells: Sequence[Sequence[str]], title: str, caption: str) -> Table:
    """A table for a terminal, its head first; what a row is about stands left."""
    shown = Table(title=title, caption=caption)
    head, *rows = cells
    for number, name in enumerate(head):
        shown.add_column(name, justify="right" if number else "left", no_wrap=not number)
    for row in rows:
        shown.add_row(*row)
    return shown


def in_markdown(cells: Sequence[Sequence[str]]) -> str:
    """The same for a document."""
    head, *rows = cells
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(result: Mapping[str, Any], path: Path | None) -> None:
    """The JSON of a benchmark into ``path``, where one is given."""
    if path is not None:
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
