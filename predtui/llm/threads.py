"""How many CPU threads suit a model. Knows nothing of engines."""

from __future__ import annotations

import os

import psutil


def default_threads(parameters: int) -> int:
    """Threads for a model of so many parameters: small ones gain nothing from more. One core is left to the other
    stages, because all threads of a forward wait, spinning, for the one that has lost its core."""
    wanted = 1 if parameters < 20_000_000 else 2 if parameters < 100_000_000 else 4
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    cores = min(psutil.cpu_count(logical=False) or allowed, allowed)
    return max(1, min(wanted, cores - 1))
