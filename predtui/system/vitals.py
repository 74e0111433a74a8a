"""How the operating system sees a process: whether it runs, and what it has got of the processors."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import NamedTuple

import psutil


class Usage(NamedTuple):
    """``state`` as psutil names it; seconds of processor time, and what its threads have waited for one, 0 where the
    system does not tell."""

    state: str
    used: float
    waited: float


def usage(pid: int) -> Usage | None:
    """None where there is no such process."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        with process.oneshot():
            times = process.cpu_times()
            return Usage(process.status(), times.user + times.system, _waited(pid))
    return None


def _waited(pid: int) -> float:
    """Linux counts it for each thread."""
    waited = 0
    with contextlib.suppress(OSError, ValueError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError):
                waited += int((thread / "schedstat").read_text().split()[1])
    return waited / 1e9
