"""How busy the machine is, and each process of the app. Must not know what the processes do."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping

import psutil

from predtui.state.events import Event, Usage
from predtui.system.energy import Rapl
from predtui.system.gpu import MIB, Gpu


class Sampler:
    """Usage since the previous sample. ``pids`` names the processes to follow; None for one that is not running."""

    def __init__(
        self,
        pids: Callable[[], Mapping[str, int | None]],
        gpu: Gpu | None = None,
        rapl: Rapl | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pids, self._now = pids, now
        self._gpu, self._rapl = gpu or Gpu(), rapl or Rapl()
        self._processes: dict[int, psutil.Process] = {}
        self._power = now(), self._rapl.joules()
        psutil.cpu_percent(percpu=True)

    def sample(self) -> Usage:
        """``memory_mb`` is what the named processes hold together; a process seen for the first time counts 0 %."""
        stages = tuple(self._one(name, pid) for name, pid in self._pids().items() if pid is not None)
        alive = set(self._pids().values())
        self._processes = {pid: process for pid, process in self._processes.items() if pid in alive}
        gpu = self._gpu.sample()
        cores = tuple(psutil.cpu_percent(percpu=True))
        return Usage(
            cpu=sum(cores) / max(1, len(cores)),
            cores=cores,
            watts=self._watts(),
            gpu=gpu.percent,
            gpu_watts=gpu.watts,
            gpu_celsius=gpu.celsius,
            memory_mb=sum(memory for _, _, memory in stages),
            gpu_memory_mb=gpu.memory_mb,
            stages=stages,
        )

    def _watts(self) -> float | None:
        (then, before), self._power = self._power, (self._now(), self._rapl.joules())
        now, used = self._power
        return None if before is None or used is None or now <= then else (used - before) / (now - then)

    def _one(self, name: str, pid: int) -> tuple[str, float, float]:
        try:
            process = self._processes.get(pid) or self._processes.setdefault(pid, psutil.Process(pid))
            with process.oneshot():
                return (name, process.cpu_percent(), process.memory_info().rss / MIB)
        except psutil.Error:
            return (name, 0.0, 0.0)


class Monitor:
    """Publishes a sample every ``period`` seconds from a thread of its own, while it is watched."""

    def __init__(
        self,
        publish: Callable[[Event], None],
        stage_pids: Callable[[], Mapping[str, int | None]],
        period: float = 1.0,
    ) -> None:
        self._publish = publish
        self._pids = stage_pids
        self._period = period
        self._stopped, self._watched = threading.Event(), threading.Event()
        self._watched.set()
        self._thread = threading.Thread(target=self._run, name="monitor", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def watch(self, on: bool) -> None:
        """Whether anybody sees the samples. From any thread."""
        (self._watched.set if on else self._watched.clear)()

    def stop(self) -> None:
        self._stopped.set()
        self._watched.set()  # who waits for that goes on, and ends
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        sampler: Sampler | None = None
        while self._watched.wait() and not self._stopped.is_set():
            sampler = sampler or Sampler(lambda: {"ui": os.getpid(), **self._pids()})
            sampler.sample()  # of the time in which nobody watched
            while not self._stopped.wait(self._period) and self._watched.is_set():
                self._publish(sampler.sample())
