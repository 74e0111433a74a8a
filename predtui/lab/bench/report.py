"""What every benchmark's JSON has in common: the command, the machine, a file. Must not know what is measured."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

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


def write(result: Mapping[str, Any], path: Path | None) -> None:
    """The JSON of a benchmark into ``path``, where one is given."""
    if path is not None:
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
