"""Looks at a process of a stage several times a second. Must not know what a stage does, nor what becomes of it."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from typing import Literal

import psutil

from predtui.clock import Clock
from predtui.runtime.hosts.beats import Beats
from predtui.runtime.hosts.pulse import TICK_S, Health, Pulse, Vitals
from predtui.system.vitals import usage

_HELD = (psutil.STATUS_DISK_SLEEP, psutil.STATUS_TRACING_STOP)


def healths(
    process: subprocess.Popen[bytes], beats: Beats, place: int, clock: Clock, patience: float
) -> Iterator[Health]:
    """Each change of its health, from "well" on, until it has ended. ``patience`` as the pulse takes it."""
    pulse, last, pause = Pulse(clock.now(), patience), "well", threading.Event()
    look = partial(vitals, process.pid)
    while process.poll() is None:
        pause.wait(TICK_S)
        health = pulse.look(clock.now(), beats.read(place), look)
        if health != last:
            last = health
            yield health


def vitals(pid: int) -> Vitals:
    """Of a process; of one that is gone, as if it ran."""
    seen = usage(pid)
    if seen is None:
        return Vitals()
    state: Literal["running", "stopped", "held"]
    state = "stopped" if seen.state == psutil.STATUS_STOPPED else "held" if seen.state in _HELD else "running"
    return Vitals(state, seen.used, seen.waited)
