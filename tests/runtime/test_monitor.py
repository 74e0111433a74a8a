"""Utilisation: sampled from real processes, and never in the way."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from predtui.clock import VirtualClock
from predtui.runtime.monitor import Monitor, Sampler
from predtui.state import events as ev
from predtui.system.energy import Rapl
from tests.system.test_energy import zone
from tests.system.test_gpu import nvml


def test_processes_are_named_and_weighed() -> None:
    usage = Sampler(lambda: {"me": os.getpid(), "absent": None}).sample()
    ((name, percent, memory),) = usage.stages
    assert name == "me"
    assert percent >= 0.0
    assert memory > 1.0
    assert usage.memory_mb == memory
    assert 0.0 <= usage.cpu <= 100.0


def test_a_busy_process_is_seen_as_busy() -> None:
    sampler = Sampler(lambda: {"me": os.getpid()})
    sampler.sample()
    assert sum(n * n for n in range(1_000_000)) > 0
    ((_, percent, _),) = sampler.sample().stages
    assert percent > 0.0


def test_a_process_that_is_gone_counts_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    sampler = Sampler(lambda: {"gone": process.pid})
    assert sampler.sample().stages[0][2] > 0.0
    process.communicate(b"\n")
    assert sampler.sample().stages == (("gone", 0.0, 0.0),)


def test_samples_are_published_until_it_is_stopped() -> None:
    heard: queue.Queue[ev.Event] = queue.Queue()
    monitor = Monitor(heard.put, dict, period=0.01)
    monitor.start()
    for _ in range(2):
        usage = heard.get(timeout=20)
        assert isinstance(usage, ev.Usage)
        assert [name for name, _, _ in usage.stages] == ["ui"]
    monitor.stop()
    while not heard.empty():
        heard.get()
    with pytest.raises(queue.Empty):
        heard.get(timeout=0.1)


def test_nothing_is_looked_at_while_nobody_watches() -> None:
    heard: queue.Queue[ev.Event] = queue.Queue()
    looked: queue.Queue[None] = queue.Queue()

    def pids() -> dict[str, int | None]:
        looked.put(None)
        return {}

    monitor = Monitor(heard.put, pids, period=0.01)
    monitor.watch(False)
    monitor.start()
    with pytest.raises(queue.Empty):
        looked.get(timeout=0.2)
    for _ in range(3):
        monitor.watch(True)
        heard.get(timeout=20)
        monitor.watch(False)
        heard_until_quiet(heard)
        heard_until_quiet(looked)
        with pytest.raises(queue.Empty):
            looked.get(timeout=0.1)
    monitor.stop()


def heard_until_quiet(told: queue.Queue[Any]) -> None:
    """A sample may be under way."""
    with contextlib.suppress(queue.Empty):
        while True:
            told.get(timeout=0.2)


def test_what_was_before_anybody_watched_is_no_part_of_the_first_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = iter(range(1000))
    monkeypatch.setattr(Sampler, "sample", lambda self: ev.Usage(cpu=float(next(counted))))
    heard: queue.Queue[ev.Event] = queue.Queue()
    monitor = Monitor(heard.put, dict, period=0.01)
    monitor.start()
    first = heard.get(timeout=20)
    monitor.stop()
    assert isinstance(first, ev.Usage)
    assert first.cpu == 1.0


def test_watts_are_the_joules_between_two_samples(tmp_path: Path) -> None:
    clock = VirtualClock(10.0)
    for name in ("intel-rapl:0", "intel-rapl:1"):
        zone(tmp_path, name, 100.0)
    sampler = Sampler(dict, rapl=Rapl(tmp_path), now=clock.now)
    assert sampler.sample().watts is None  # no time has passed
    clock.advance(2.0)
    zone(tmp_path, "intel-rapl:0", 130.0)
    zone(tmp_path, "intel-rapl:1", 110.0)
    assert sampler.sample().watts == pytest.approx(20.0)
    clock.advance(1.0)
    assert sampler.sample().watts == 0.0
    assert Sampler(dict, rapl=Rapl(tmp_path / "absent")).sample().watts is None


def test_a_gpu_is_part_of_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml())
    usage = Sampler(dict).sample()
    assert (usage.gpu, usage.gpu_memory_mb, usage.gpu_watts, usage.gpu_celsius) == (42.0, 7.0, 70.5, 58.0)


def test_each_core_is_told_and_the_machine_is_their_mean() -> None:
    usage = Sampler(dict).sample()
    assert len(usage.cores) == psutil.cpu_count()
    assert usage.cpu == pytest.approx(sum(usage.cores) / len(usage.cores))
