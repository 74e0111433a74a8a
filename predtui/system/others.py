"""How much of the machine other work takes while a child process runs. Must not know what the child is for."""

from __future__ import annotations

import time

import psutil


class Others:
    """From when it is made on: what neither this process nor a child of it that has ended has used."""

    def __init__(self) -> None:
        self._since, self._used, self._own = time.monotonic(), _used(), _own()

    def processors(self) -> float:
        """How many of the processors were taken, on average."""
        passed = max(time.monotonic() - self._since, 1e-3)
        return max(0.0, _used() - self._used - _own() + self._own) / passed


def _used() -> float:
    """Seconds of all processors in which they were not idle."""
    times = psutil.cpu_times()._asdict()
    counted_elsewhere = ("idle", "iowait", "guest", "guest_nice")
    return float(sum(seconds for name, seconds in times.items() if name not in counted_elsewhere))


def _own() -> float:
    """Seconds of processors that this process and its children that have ended have used."""
    times = psutil.Process().cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)
