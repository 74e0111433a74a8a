"""The progress of a training run: a bar in a terminal, a plain line now and then in a log file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from predtui.training.pocket.loop import Progress, Report

LOG_SECONDS = 15.0


def describe(progress: Progress) -> str:
    """One line with units: step, loss, judgements, speed, time left."""
    judged = "" if progress.judge_accuracy is None else f"  judge {100 * progress.judge_accuracy:.0f} %"
    minutes, seconds = divmod(int(progress.seconds_left), 60)
    return (
        f"step {progress.step}  loss {progress.loss:.3f} nats{judged}  rate {progress.rate:.2f}  "
        f"{progress.tokens_per_second:,.0f} tok/s  {minutes}:{seconds:02d} left"
    )


@contextmanager
def reporter(title: str, console: Console) -> Iterator[Report]:
    """A report function for ``train`` that fits the console."""
    if not console.is_terminal:
        yield _log(title, console)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[news]}"))
    with Bar(*columns, console=console) as bar:
        task = bar.add_task(title, total=1.0, news="")
        yield lambda progress: bar.update(task, completed=progress.share, news=describe(progress))


def _log(title: str, console: Console) -> Report:
    last = -LOG_SECONDS

    def report(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= LOG_SECONDS or progress.share >= 1.0:
            last = time.monotonic()
            print(f"{title}  {100 * progress.share:.0f} %  {describe(progress)}", file=console.file, flush=True)

    return report
