"""How many CPU threads suit a model, and how many are free for it. Must not know of engines."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable

import psutil

_WINDOW_S = 0.1
"""Seconds over which the work of others is measured, at least: systems count it in steps of a hundredth."""
_UNNOTICED = 0.4
"""Cores that others may use without one being left to them: a screen that is drawn, a recogniser between its rounds."""


def default_threads(parameters: int, gives_way: bool = False) -> int:
    """Threads for a model of this size: small ones gain nothing from more. One core is left to the other stages, unless
    the engine's threads give way to them; if they do not, every thread of a forward spins until the one that lost its
    core is done."""
    wanted = 1 if parameters < 20_000_000 else 2 if parameters < 100_000_000 else 4
    allowed = len(_allowed())
    cores = min(psutil.cpu_count(logical=False) or allowed, allowed)
    return max(1, min(wanted, cores if gives_way else cores - 1))


class Cores:
    """Threads for the next forward: the most allowed, less the cores that other work uses."""

    def __init__(
        self, most: int, now: Callable[[], float] = time.monotonic, ours: Callable[[], float] | None = None
    ) -> None:
        """``now`` in seconds; ``ours``: seconds, summed over the cores, that these were idle or worked for this
        process, from whenever on."""
        self._most, self._now, self._ours = most, now, ours or _idle_or_ours
        self._threads = most
        self._left = 0
        self._look()

    def leave(self, cores: int) -> None:
        """Leave ``cores`` more to other work that begins now; a negative number takes them back, and starts measuring
        anew."""
        self._left += cores
        if cores < 0:
            self._threads = self._most
            self._look()

    @property
    def threads(self) -> int:
        """For the next forward, at least one."""
        seconds = self._now() - self._looked
        if seconds >= _WINDOW_S:
            had = self._had
            self._look()
            self._threads = min(self._most, math.floor((self._had - had) / seconds + _UNNOTICED))
        return max(1, self._threads - self._left)

    def _look(self) -> None:
        self._looked, self._had = self._now(), self._ours()


def _idle_or_ours() -> float:
    allowed = _allowed()
    idle = [cpu.idle + getattr(cpu, "iowait", 0.0) for cpu in psutil.cpu_times(percpu=True)]
    return sum(idle[cpu] for cpu in allowed if cpu < len(idle)) + time.process_time()


def _allowed() -> set[int]:
    """Numbers of the cores that this process may run on."""
    if sys.platform == "linux":
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))
