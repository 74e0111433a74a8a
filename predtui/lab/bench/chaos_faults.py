"""Faults of ``predtui bench chaos``, by kind. Must not know what the app should make of them."""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import psutil

from predtui.lab.bench.chaos_app import Disturbed
from predtui.lab.bench.chaos_stages import Devices
from predtui.runtime.stages import STAGES

HEAVY = ("asr", "llm", "tts")
_MB = 2**20
_LATER_S = 60.0
"""A process that is stopped and that nobody has ended by then goes on: longer than a turn may take."""
_SIZES = ((36, 120), (24, 80), (12, 40), (50, 200), (8, 30), (16, 100))
Fault = Callable[[Disturbed, random.Random, Devices], str]
"""Does it, and says what, in a word or two. Raises psutil.Error or OSError where the process is gone."""


def _one(app: Disturbed, rng: random.Random, names: Sequence[str]) -> tuple[str, psutil.Process]:
    """One of the stages that have a process. Raises psutil.Error where none has."""
    running = app.processes()
    there = [name for name in names if name in running]
    if not there:
        raise psutil.NoSuchProcess(0)
    name = rng.choice(there)
    return name, running[name]


def _kill(app: Disturbed, rng: random.Random, devices: Devices) -> str:
    name, process = _one(app, rng, STAGES)
    process.kill()
    return f"kill {name}"


def _stop(app: Disturbed, rng: random.Random, devices: Devices) -> str:
    name, process = _one(app, rng, STAGES)
    process.suspend()
    app.after(_LATER_S, process.resume)
    return f"stop {name}"


def _device(app: Disturbed, rng: random.Random, devices: Devices) -> str:
    name = rng.choice(("microphone", "loudspeaker"))
    devices.lose(name, True)
    app.after(rng.uniform(0.2, 3.0), partial(devices.lose, name, False))
    return f"no {name}"


def _disk(app: Disturbed, rng: random.Random, devices: Devices) -> str:
    """No file of any of its processes grows for a while."""
    for process in app.processes().values():
        _limit(app, process, resource.RLIMIT_FSIZE, 0, rng.uniform(0.5, 4.0))
    return "full disk"


def _slow_disk(app: Disturbed, rng: random.Random, devices: Devices) -> str:
    """Each write to a file takes a fifth of a second longer."""
    devices.lose("slow", True)
    app.after(rng.uniform(0.5, 4.0), partial(devices.lose, "slow", False))
    return "slow disk"


def _memory(app: Disturbed, rng: random.Random, devices: Devices) -> str:
    name, process = _one(app, rng, HEAVY)
    most = process.memory_info().vms + rng.choice((0, 4, 32)) * _MB
    _limit(app, process, resource.RLIMIT_AS, most, rng.uniform(0.5, 4.0))
    return f"no memory for {name}"


def _limit(app: Disturbed, process: psutil.Process, what: int, most: int, seconds: float) -> None:
    soft, hard = process.rlimit(what)
    if soft == most:
        return
    process.rlimit(what, (most, hard))
    app.after(seconds, partial(process.rlimit, what, (hard, hard)))


def _resize(app: Disturbed, rng: random.Random, devices: Devices) -> str:
    app.resize(*rng.choice(_SIZES))
    return "resize"


def _theme(app: Disturbed, rng: random.Random, devices: Devices) -> str:
    app.press("\x14")
    return "theme"


FAULTS: dict[str, Fault] = {
    "kill": _kill,
    "stop": _stop,
    "device": _device,
    "disk": _disk,
    "slow": _slow_disk,
    "memory": _memory,
    "resize": _resize,
    "theme": _theme,
}
HARMLESS = ("resize", "theme")
"""What must not show in any turn."""


def unable() -> dict[str, str]:
    """Kinds that cannot be done on this machine, and why."""
    lacking = {} if _compiler() else {"slow": "needs a C compiler, and Linux"}
    if not hasattr(psutil.Process, "rlimit"):
        lacking.update(dict.fromkeys(("disk", "memory"), "no limits of another process can be set here (Linux only)"))
    return lacking


def slowness(folder: Path) -> dict[str, str]:
    """What the environment of an app has to hold so that its disk can be made slow by a file "slow" in ``folder``."""
    if not (compiler := _compiler()):
        return {}
    library = folder / "slow_disk.so"
    source = Path(__file__).with_name("slow_disk.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    return {"LD_PRELOAD": str(library), "PREDTUI_SLOW_DISK": str(folder / "slow")}


def _compiler() -> str | None:
    return shutil.which("cc") if sys.platform == "linux" else None
