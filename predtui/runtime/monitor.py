"""How busy the machine is, and each process of the app. Must not know what the processes do."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil

from predtui.state.events import Event, Usage

MIB = 1024 * 1024


class Gpu:
    """The first NVIDIA GPU; ``sample`` gives (percent, used MB), or (None, None) without one."""

    def __init__(self) -> None:
        self._handle: Any = None
        with contextlib.suppress(Exception):  # no library, no driver or no device: each is "no GPU"
            import pynvml

            pynvml.nvmlInit()
            self._nvml = pynvml
            self._handle = pynvml.nvmlDeviceGetHandleByIndex(0)

    @property
    def name(self) -> str | None:
        """What the GPU is called; None without one."""
        return str(self._nvml.nvmlDeviceGetName(self._handle)) if self._handle is not None else None

    def watts(self) -> float | None:
        """Where the device tells."""
        if self._handle is None:
            return None
        try:
            return float(self._nvml.nvmlDeviceGetPowerUsage(self._handle)) / 1000
        except self._nvml.NVMLError:
            return None

    def sample(self) -> tuple[float | None, float | None]:
        if self._handle is None:
            return None, None
        try:
            percent = float(self._nvml.nvmlDeviceGetUtilizationRates(self._handle).gpu)
            return percent, self._nvml.nvmlDeviceGetMemoryInfo(self._handle).used / MIB
        except self._nvml.NVMLError:
            return None, None


POWERCAP = Path("/sys/class/powercap")


class Rapl:
    """The energy counters of the processors, which many systems let only root read: then, and without any, nothing."""

    def __init__(self, folder: Path = POWERCAP, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._counters = [path for path in sorted(folder.glob("intel-rapl:?/energy_uj")) if os.access(path, os.R_OK)]
        self._read_at, self._before = now(), self._joules()

    def watts(self) -> float | None:
        """Since the last time; None where nothing tells, or a counter has begun anew."""
        before, read_at = self._before, self._read_at
        self._before, self._read_at = self._joules(), self._now()
        if before is None or self._before is None or self._before < before or self._read_at <= read_at:
            return None
        return (self._before - before) / (self._read_at - read_at)

    def _joules(self) -> float | None:
        try:
            read = [int(path.read_text()) for path in self._counters]
        except (OSError, ValueError):
            return None
        return sum(read) / 1e6 if read else None


class Sampler:
    """Usage since the previous sample. ``pids`` names the processes to follow; None for one that is not running."""

    def __init__(
        self, pids: Callable[[], Mapping[str, int | None]], gpu: Gpu | None = None, rapl: Rapl | None = None
    ) -> None:
        self._pids = pids
        self._gpu, self._rapl = gpu or Gpu(), rapl or Rapl()
        self._processes: dict[int, psutil.Process] = {}
        psutil.cpu_percent(percpu=True)

    def sample(self) -> Usage:
        """``memory_mb`` is what the named processes hold together; a process seen for the first time counts 0 %."""
        stages = tuple(self._one(name, pid) for name, pid in self._pids().items() if pid is not None)
        alive = set(self._pids().values())
        self._processes = {pid: process for pid, process in self._processes.items() if pid in alive}
        gpu, gpu_memory = self._gpu.sample()
        cores = tuple(psutil.cpu_percent(percpu=True))
        return Usage(
            cpu=sum(cores) / max(1, len(cores)),
            cores=cores,
            watts=self._rapl.watts(),
            gpu_watts=self._gpu.watts(),
            gpu=gpu,
            memory_mb=sum(memory for _, _, memory in stages),
            gpu_memory_mb=gpu_memory,
            stages=stages,
        )

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
