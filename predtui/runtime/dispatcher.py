"""Jobs and timers on one thread, in order. Must not know what the jobs do."""

from __future__ import annotations

import heapq
import logging
import queue
import threading
from collections.abc import Callable

from predtui.clock import Clock

Job = Callable[[], None]
_log = logging.getLogger("predtui.runtime.dispatcher")


class Dispatcher:
    """``post`` from any thread, ``after`` from a job. A job that raises is logged, and the next one runs."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._timers: list[tuple[float, int, Job]] = []
        self._count = 0
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)

    def post(self, job: Job) -> None:
        self._jobs.put(job)

    def after(self, seconds: float, job: Job) -> None:
        self._count += 1
        heapq.heappush(self._timers, (self._clock.now() + seconds, self._count, job))

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when the jobs posted before have run. Harmless twice, and where it never started."""
        self._jobs.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def pump(self) -> None:
        """Without a thread: run here all that waits or is due."""
        while not self._jobs.empty() or self._due():
            self._run_due()
            if not self._jobs.empty():
                guarded(self._jobs.get() or _nothing)

    def _run(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=self._wait())
            except queue.Empty:
                job = _nothing
            if job is None:
                return
            guarded(job)
            self._run_due()

    def _wait(self) -> float | None:
        return max(0.0, self._timers[0][0] - self._clock.now()) if self._timers else None

    def _due(self) -> bool:
        return bool(self._timers) and self._timers[0][0] <= self._clock.now()

    def _run_due(self) -> None:
        while self._due():
            guarded(heapq.heappop(self._timers)[2])


def guarded(job: Job) -> None:
    """Run ``job``; what it raises goes to the log."""
    try:
        job()
    except Exception:
        _log.exception("a job failed")


def _nothing() -> None:
    """The job of a dispatcher that wakes for a timer."""
