"""Time to the first frame and until ready, and the peak memory of each process. Runs the app in a pseudo-terminal.

Linux only: peak memory is read from /proc. Must not know what is drawn, but for the title of one pane.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import queue
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from predtui.commands.with_settings import with_settings
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Watch
from predtui.lab.commands.options import Json
from predtui.runtime.build import make_pipeline, resolved
from predtui.runtime.stages import STAGES
from predtui.settings import Settings
from predtui.state.events import Event, StageStatus

PAINTED = b"CONVERSATION"
PATIENCE_S = 30.0


def first_frame(settings: Settings) -> tuple[float, float]:
    """Seconds from the command to the first painted frame, and the peak MB of the screen's process."""
    start = time.monotonic()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", PREDTUI_UI_TOUR="off")
        os.execv(
            sys.executable,
            [sys.executable, "-m", "predtui", "--model", settings.llm.model, "--asr-model", settings.asr.model],
        )
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    seen = b""
    while PAINTED not in seen and time.monotonic() - start < PATIENCE_S:
        if select.select([terminal], [], [], 0.1)[0]:
            with contextlib.suppress(OSError):
                seen += os.read(terminal, 65536)
    elapsed = time.monotonic() - start
    memory = peak_mb(pid)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    return elapsed, memory


def ready(settings: Settings) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds until each stage is ready, and the peak MB of its process once all are."""
    inbox: queue.SimpleQueue[Event] = queue.SimpleQueue()
    start = time.monotonic()
    pipeline = make_pipeline(settings)
    pipeline.subscribe(inbox.put)
    pipeline.start()
    times: dict[str, float] = {}
    try:
        while times.keys() < set(STAGES) and time.monotonic() - start < PATIENCE_S:
            with contextlib.suppress(queue.Empty):
                event = inbox.get(timeout=1.0)
                if isinstance(event, StageStatus) and event.state in ("ready", "failed"):
                    times[event.stage] = time.monotonic() - start
        return times, {name: peak_mb(pid) for name, pid in pipeline.pids().items() if pid is not None}
    finally:
        pipeline.stop()


def peak_mb(pid: int) -> float:
    """The most memory process ``pid`` has held, in MB; 0 where that cannot be read."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return 0.0


def main(settings: Settings, repeats: int = 5, json_path: Path | None = None) -> int:
    """Measure, print, write; the exit status."""
    watch = Watch[tuple[float, float]](repeats, "starts", lambda start: f"{start[0]:.2f} s, {start[1]:.0f} MB")
    frames = watch(_first_frames(settings, repeats))
    times, memory = ({}, {}) if watch.stopped else ready(settings)
    memory = {"screen": max((peak for _, peak in frames), default=0.0), **memory}
    first = median(elapsed for elapsed, _ in frames) if frames else 0.0
    row = {"first_frame_s": first, "ready_s": times, "peak_mb": memory}
    result = {"command": command(), "machine": machine(), "models": [settings.llm.model], "rows": [row]}
    screen = console()
    screen.print(f"first frame  {first:.2f} s (median of {len(frames)}), {result['machine']}")
    for name, seconds in times.items():
        screen.print(f"{name:<8} ready after {seconds:.2f} s, {memory.get(name, 0):.0f} MB at most")
    screen.print(f"screen   {memory['screen']:.0f} MB at most")
    return watch.leave(result, json_path)


def _first_frames(settings: Settings, repeats: int) -> Iterator[tuple[float, float]]:
    for _ in range(repeats):
        yield first_frame(settings)


@with_settings
def cli(
    settings: Settings,
    repeats: Annotated[int, typer.Option(help="Starts of the screen.", min=1)] = 5,
    json: Json = None,
) -> None:
    """``predtui bench startup``."""
    raise typer.Exit(main(resolved(settings, embedded=True), repeats, json))
