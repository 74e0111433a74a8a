"""How many CPU threads suit a model. Knows nothing of engines."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil

_CROWDED = 100.0
"""Times a second that the threads of forwards lose their cores, from which on these are wanted by others: some 20 with
nothing else at work, 120 to 240 beside one busy program."""
_MEMORY_S = 0.1
"""Seconds of forwards after which what was counted before has lost half its weight."""
_SHORTEST_S, _LONGEST_S = 2.0, 64.0
"""How long a core is then left to others; twice as long where it was wanted again right after."""


def default_threads(parameters: int) -> int:
    """Threads for a model of so many parameters that has the machine's cores to itself: small ones gain nothing from
    more."""
    return max(1, min(1 if parameters < 20_000_000 else 2 if parameters < 100_000_000 else 4, _cores()))


def beside_others(threads: int) -> int:
    """Of so many threads, those that leave a core to other work: all threads of a forward wait, spinning, for the one
    that has lost its core."""
    return max(1, min(threads, _cores() - 1))


class Cores:
    """How many threads the next forward takes: all, but for one where others are to have a core, or take it."""

    def __init__(
        self,
        threads: int,
        beside: int,
        now: Callable[[], float] = time.monotonic,
        lost: Callable[[], int] = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw,
    ) -> None:
        """``threads``: at most; ``beside`` others. ``lost``: how often threads have lost their cores so far."""
        self._threads, self._beside, self._now, self._lost = threads, beside, now, lost
        self._seconds = self._losses = 0.0
        self._until = 0.0
        self._pause = _SHORTEST_S
        self.others = False
        """Whether a core is to be left to others."""

    @property
    def threads(self) -> int:
        return self._beside if self.sharing else self._threads

    @property
    def sharing(self) -> bool:
        """Whether a core is left to others now."""
        return self._beside < self._threads and (self.others or self._now() < self._until)

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Around a forward on ``threads``: are the cores there?"""
        if self.sharing or self._beside == self._threads:
            yield
            return
        began, lost = self._now(), self._lost()
        yield
        self._count(self._now() - began, self._lost() - lost)

    def _count(self, seconds: float, losses: int) -> None:
        kept = 0.5 ** (seconds / _MEMORY_S)
        self._seconds, self._losses = kept * self._seconds + seconds, kept * self._losses + losses
        if self._seconds >= _MEMORY_S / 2 and self._losses > _CROWDED * self._seconds:
            again = self._now() - self._until < self._pause
            self._pause = min(2 * self._pause, _LONGEST_S) if again else _SHORTEST_S
            self._until = self._now() + self._pause
            self._seconds = self._losses = 0.0


def _cores() -> int:
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(psutil.cpu_count(logical=False) or allowed, allowed)
