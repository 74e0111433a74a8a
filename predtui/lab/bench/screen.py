"""``predtui bench screen``: what the screen takes and how soon it answers a key, in a pseudo-terminal, on the embedded
models: at rest, while replies are guessed, on a busy machine, and with a long conversation.

Linux and macOS. Must not know what is drawn, but for the words that are typed.
"""

from __future__ import annotations

import contextlib
import fcntl
import multiprocessing
import os
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import psutil
import typer
from rich.table import Table

from predtui.lab.bench import report
from predtui.lab.commands.options import Json
from predtui.models.published import EMBEDDED
from predtui.state.exchange import Exchange
from predtui.state.kept.store import Store

LINES, COLUMNS = 36, 120
PATIENCE_S = 60.0
TYPED = "what is the capital of france and how do i bake bread "
"""Typed again and again, in the rhythm of a fast typist."""
KEY_S = 0.1
COMMANDS = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>]")
SCROLL = b"\x1b[5~"


class Screen:
    """The app in a terminal that only reads; ``folder`` has its settings and what it keeps."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            own = {f"PREDTUI_{name}_DIR": str(folder) for name in ("CONFIG", "STATE", "DATA")}
            os.environ.update(
                own, TERM="xterm-256color", COLORTERM="truecolor", PREDTUI_UI_TOUR="off", **{EMBEDDED: "1"}
            )
            silent = ("--input", "none", "--output", "none")
            os.execv(sys.executable, [sys.executable, "-m", "predtui", *silent, *arguments])
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self._process = psutil.Process(self.pid)

    def send(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def until(self, text: str, seconds: float = PATIENCE_S) -> float:
        """Seconds until ``text`` has come; infinite where it has not within ``seconds``."""
        began, seen = time.monotonic(), b""
        while (left := began + seconds - time.monotonic()) > 0:
            seen += self._come(left)
            if text.encode() in COMMANDS.sub(b"", seen):
                return time.monotonic() - began
        return float("inf")

    def rest(self, seconds: float) -> float:
        """Share of a core that the screen's process takes meanwhile."""
        used, began = self.used, time.monotonic()
        while (left := began + seconds - time.monotonic()) > 0:
            self._come(left)
        return (self.used - used) / (time.monotonic() - began)

    @property
    def used(self) -> float:
        """CPU seconds so far."""
        times = self._process.cpu_times()
        return float(times.user + times.system)

    @property
    def megabytes(self) -> float:
        return float(self._process.memory_info().rss / 2**20)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self._terminal)

    def _come(self, seconds: float) -> bytes:
        if not select.select([self._terminal], [], [], seconds)[0]:
            return b""
        with contextlib.suppress(OSError):
            return os.read(self._terminal, 1 << 16)
        return b""


@contextlib.contextmanager
def shown(folder: Path, *arguments: str) -> Iterator[Screen]:
    """A screen whose stages have come up."""
    screen = Screen(folder, *arguments)
    try:
        screen.until("type here")
        screen.rest(6.0)
        yield screen
    finally:
        screen.close()


def echoes(screen: Screen, keys: int) -> tuple[list[float], float]:
    """Milliseconds from each key to its letter on the screen, and the share of a core meanwhile."""
    line, took, used, began = "", [], screen.used, time.monotonic()
    for index in range(keys):
        if index and index % len(TYPED) == 0:
            screen.send(b"\x15")  # Ctrl+U empties the line
            screen.rest(KEY_S)
            line = ""
        line += TYPED[index % len(TYPED)]
        screen.send(line[-1].encode())
        took.append(1000 * screen.until(line[-12:].rstrip(), 2.0))
        screen.rest(max(0.0, KEY_S - took[-1] / 1000))
    return took, (screen.used - used) / (time.monotonic() - began)


@contextlib.contextmanager
def busy() -> Iterator[None]:
    """Every core has a program that wants all of it."""
    spawn = multiprocessing.get_context("spawn")
    programs = [spawn.Process(target=_turn, daemon=True) for _ in range(os.cpu_count() or 1)]
    for program in programs:
        program.start()
    time.sleep(1.0)
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.join()


def _turn() -> None:
    while True:
        pass


def long_conversation(folder: Path, turns: int) -> None:
    """So many turns, kept."""
    with Store(folder / "conversations" / "conversations.db") as store:
        session = 0
        for place in range(turns):
            said = Exchange(f"what is {place} plus {place}", f"{place} plus {place} is {2 * place}. " * 3)
            session = store.put(session, place, said)


def run(keys: int, seconds: float, turns: int) -> dict[str, Any]:
    """All of it, one after the other."""
    rows: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with shown(folder, "--private") as screen:
            rows["at rest, share of a core"] = screen.rest(seconds)
            rows["echo of a key, ms"], rows["while replies are guessed, share of a core"] = echoes(screen, keys)
            with busy():
                rows["the same, every core busy, ms"], _ = echoes(screen, keys)
            rows["memory, MB"] = screen.megabytes
        long_conversation(folder, turns)
        with shown(folder, "--resume") as screen:
            rows[f"memory with {turns} turns, MB"] = screen.megabytes
            rows[f"echo of a key with {turns} turns, ms"], _ = echoes(screen, keys // 2)
            screen.send(b"\x15\t")
            screen.rest(0.5)
            rows["a page scrolled back, ms"] = [_scrolled(screen) for _ in range(30)]
    return {"command": report.command(), "rows": rows}


def _scrolled(screen: Screen) -> float:
    """Until the pane's title counts the newer lines anew."""
    screen.rest(0.1)
    screen.send(SCROLL)
    return 1000 * screen.until("newer", 2.0)


def cli(
    keys: Annotated[int, typer.Option(help="Keys to press in each state.", min=2)] = 200,
    seconds: Annotated[float, typer.Option(help="To look at a screen at rest.", min=1)] = 20.0,
    turns: Annotated[int, typer.Option(help="Of the long conversation.", min=1)] = 2000,
    json: Json = None,
) -> None:
    """How soon a key is seen, and what the screen takes of the CPU and the memory."""
    result = run(keys, seconds, turns)
    table = Table("the screen", "median", "95 %", title=f"{LINES} x {COLUMNS}, embedded models")
    for name, value in result["rows"].items():
        values = sorted(value) if isinstance(value, list) else [value]
        form = "{:.1%}" if "share" in name else "{:.1f}"
        spread = form.format(float(np.quantile(values, 0.95))) if len(values) > 1 else ""
        table.add_row(name, form.format(float(np.quantile(values, 0.5))), spread)
    report.console().print(table)
    report.write(result, json)
