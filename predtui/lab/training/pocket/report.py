"""The progress of a training run: a bar in a terminal, a plain line now and then in a log file."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from predtui.lab.training.pocket.loop import Progress

LOG_SECONDS = 15.0


class Shared(Protocol):
    """News of a run that says what share of its budget is used, 0 to 1."""

    @property
    def share(self) -> float: ...


News = TypeVar("News", bound=Shared)


def describe(progress: Progress) -> str:
    """One line with units: step, loss, judgements, speed, time left."""
    judged = "" if progress.judge_accuracy is None else f"  judge {100 * progress.judge_accuracy:.0f} %"
    minutes, seconds = divmod(int(progress.seconds_left), 60)
    return (
        f"step {progress.step}  loss {progress.loss:.3f} nats{judged}  rate {progress.rate:.2f}  "
        f"{progress.tokens_per_second:,.0f} tok/s  {minutes}:{seconds:02d} left"
    )


@contextmanager
def reporter(title: str, console: Console) -> Iterator[Callable[[Progress], None]]:
    """A report function for ``train`` that fits the console."""
    with bar(title, console, describe) as report:
        yield report


@contextmanager
def bar(title: str, console: Console, line: Callable[[News], str]) -> Iterator[Callable[[News], None]]:
    """A report function for any run; ``line`` puts its news into words."""
    if not console.is_terminal:
        yield _log(title, console, line)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[news]}"))
    with Bar(*columns, console=console) as drawn:
        task = drawn.add_task(title, total=1.0, news="")
        yield lambda progress: drawn.update(task, completed=progress.share, news=line(progress))


def _log(title: str, console: Console, line: Callable[[News], str]) -> Callable[[News], None]:
    last = -LOG_SECONDS

    def report(progress: News) -> None:
        nonlocal last
        if time.monotonic() - last >= LOG_SECONDS or progress.share >= 1.0:
            last = time.monotonic()
            print(f"{title}  {100 * progress.share:.0f} %  {line(progress)}", file=console.file, flush=True)

    return report
