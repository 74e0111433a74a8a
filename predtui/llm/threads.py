"""How many CPU threads suit a model. Knows nothing of engines."""

from __future__ import annotations

import os

import psutil


def default_threads(parameters: int) -> int:
    """Threads for a model of so many parameters that has the machine's cores to itself: small ones gain nothing from
    more."""
    return max(1, min(1 if parameters < 20_000_000 else 2 if parameters < 100_000_000 else 4, _cores()))


def beside_others(threads: int) -> int:
    """Of so many threads, those that leave a core to other work: all threads of a forward wait, spinning, for the one
    that has lost its core."""
    return max(1, min(threads, _cores() - 1))


def _cores() -> int:
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(psutil.cpu_count(logical=False) or allowed, allowed)
