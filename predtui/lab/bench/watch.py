"""Progress of a benchmark: results are printed as they come, with the time left, and kept when it is stopped.

Must not know what is measured.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, Generic, TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from predtui.errors import PredtuiError
from predtui.lab.bench.report import console, write
from predtui.system.exits import terminate_as_interrupt

QUIET_S = 30.0
"""Without a terminal, progress is printed at least this often."""

T = TypeVar("T")
Gather = Callable[[Iterable[T]], list[T]]
"""All items, as ``list`` gives them, or those that came until somebody had enough."""


class Watch(Generic[T]):
    """Gathers what a bench finds. Ctrl-C, SIGTERM and a PredtuiError end the gathering, not the bench: it makes its
    tables of what there is, and ``leave`` says what happened."""

    def __init__(self, total: int, unit: str, line: Callable[[T], str] = lambda _: "") -> None:
        """``total`` of ``unit`` are expected, which may be set later; ``line`` describes one of them; empty: it is only
        counted."""
        self.total, self._unit, self._line = total, unit, line
        self._screen = console()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=self._screen, transient=True, disable=not self._screen.is_terminal)
        self._began = self._told = time.monotonic()
        self.done = self._signal = 0
        self._error: PredtuiError | None = None

    @property
    def stopped(self) -> bool:
        """Whether something is missing."""
        return bool(self._signal or self._error)

    def __call__(self, items: Iterable[T]) -> list[T]:
        """Raises the PredtuiError before which nothing was found."""
        found: list[T] = []
        self._began = self._told = time.monotonic()
        with terminate_as_interrupt(), self._bar:
            task = self._bar.add_task(self._unit, total=self.total)
            try:
                with closing(items) if isinstance(items, Generator) else nullcontext():
                    for item in items:
                        found.append(item)
                        self.done += 1
                        self._bar.update(task, completed=self.done)
                        self._tell(self._line(item))
            except KeyboardInterrupt as stop:
                self._signal = next(iter(stop.args), signal.SIGINT)
            except PredtuiError as error:
                if not found:
                    raise
                self._error = error
        return found

    def leave(self, result: Mapping[str, Any], path: Path | None) -> int:
        """Write the JSON, which says whether the bench was stopped; its exit status, as a shell has it. Raises the
        PredtuiError that ended it."""
        write({**result, "stopped": self.stopped}, path)
        if self.stopped:
            self._screen.print(f"Stopped after {self.done} of {self.total} {self._unit}.")
        if self._error:
            raise self._error
        return 128 + self._signal if self._signal else 0

    def _tell(self, line: str) -> None:
        """A line of its own in any case; where no bar shows it, how far it is."""
        now = time.monotonic()
        if not self._screen.is_terminal:
            if not line and now - self._told < QUIET_S:
                return
            left = (now - self._began) / self.done * max(0, self.total - self.done)
            line = f"{self.done}/{self.total}, {clock(left)} left  {line}".rstrip()
        if line:
            self._told = now
            self._screen.print(line, soft_wrap=True)


def clock(seconds: float) -> str:
    """As minutes and seconds, or hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
