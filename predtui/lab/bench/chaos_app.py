"""The app in a pseudo-terminal while things are done to it: keys, sizes, its processes, and every event as it happens.

Events come through a pipe of their own, so that a full disk hides none. Must not know what is done, or what is right.
"""

from __future__ import annotations

import contextlib
import fcntl
import heapq
import os
import pickle
import pty
import queue
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from predtui.lab.bench.keyboard import SIZE, Scene, Terminal
from predtui.runtime.build import make_pipeline
from predtui.runtime.stages import STAGES
from predtui.state.events import AudioFrame, Event, SpeechChunk
from predtui.state.reducer import reduce
from predtui.state.turn import Turn

_TRACE = b"Traceback (most recent call last)"
_TICK_S = 0.01


@dataclass(frozen=True, slots=True)
class Told:
    """An event, in seconds of the monotonic clock when it came, and the turn after it."""

    time: float
    event: Event
    turn: Turn


class Disturbed(Terminal):
    """A running app. What is to happen to it later happens while anything is waited for."""

    def __init__(self, scene: Scene, environment: Mapping[str, str] | None = None) -> None:
        """``environment``: what its processes have besides this one's."""
        super().__init__(scene)
        self._environment = dict(environment or {})
        self.told: list[Told] = []
        self.torn = 0
        """Tracebacks that the screen has shown."""
        self._inbox: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._jobs: list[tuple[float, int, Callable[[], object]]] = []
        self._count = 0
        self.over = False
        """Whether the app has ended."""

    @property
    def state(self) -> Turn:
        return self._state

    @property
    def recording(self) -> Path:
        return self._session

    def after(self, seconds: float, job: Callable[[], object]) -> None:
        """Do it then, or soon after."""
        self._count += 1
        heapq.heappush(self._jobs, (time.monotonic() + seconds, self._count, job))

    def wait(self, seconds: float, enough: Callable[[Turn], bool] = lambda turn: False) -> bool:
        """Let time pass, until it is enough; whether it was."""
        until = time.monotonic() + seconds
        while not self.over:
            self._take()
            if enough(self._state):
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(min(_TICK_S, max(0.0, until - time.monotonic())))
        return False

    def resize(self, lines: int, columns: int) -> None:
        fcntl.ioctl(self._pipe, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def processes(self) -> dict[str, psutil.Process]:
        """Of the screen and of each stage that has one."""
        screen = psutil.Process(self._pid)
        found = {"screen": screen}
        for child in screen.children():
            with contextlib.suppress(psutil.Error, IndexError):
                if (name := child.cmdline()[-1]) in STAGES:
                    found[name] = child
        return found

    def _take(self) -> None:
        while self._jobs and self._jobs[0][0] <= time.monotonic():
            with contextlib.suppress(psutil.Error, OSError):  # the process is gone already
                heapq.heappop(self._jobs)[2]()
        while (event := self._next()) is not None:
            self._state = reduce(self._state, event)
            self._note(event)

    def _note(self, event: Event) -> None:
        self.told.append(Told(time.monotonic(), event, self._state))

    def _next(self) -> Event | None:
        with contextlib.suppress(queue.Empty):
            event = self._inbox.get_nowait()
            self.over = self.over or event is None
            return event
        return None

    def _drained(self) -> None:
        rest = b""
        with contextlib.suppress(OSError):
            while piece := os.read(self._pipe, 65536):
                seen = rest + piece
                self.torn += seen.count(_TRACE)
                rest = seen[-len(_TRACE) + 1 :]

    def _spawn(self) -> tuple[int, int]:
        recipe = Path(self._home.name) / "scene"
        recipe.write_bytes(pickle.dumps(self._scene))
        mine, theirs = os.pipe()
        os.set_inheritable(theirs, True)
        pid, pipe = pty.fork()
        if pid == 0:
            os.environ.update(
                self._environment,
                TERM="xterm-256color",
                COLORTERM="truecolor",
                PREDTUI_UI_TOUR="off",
                HOME=self._home.name,
            )
            for kind in ("CONFIG", "STATE", "DATA"):
                os.environ[f"PREDTUI_{kind}_DIR"] = str(Path(self._home.name) / kind.lower())
            module = "predtui.lab.bench.chaos_app"
            os.execv(sys.executable, [sys.executable, "-m", module, str(recipe), str(self._session), str(theirs)])
        os.close(theirs)
        fcntl.ioctl(pipe, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
        threading.Thread(target=self._listen, args=(Connection(mine, writable=False),), daemon=True).start()
        return pid, pipe

    def _listen(self, told: Connection) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                self._inbox.put(told.recv())
        self._inbox.put(None)

    def log(self) -> str:
        """What engines and stages have written."""
        file = Path(self._home.name) / "state" / "predtui.log"
        return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""


def show(recipe: Path, record: Path, pipe: Any) -> int:
    """What runs in the pseudo-terminal: the screen of the scene, recorded, with every event told to ``pipe``."""
    from predtui.tui.launch import open_screen

    scene: Scene = pickle.loads(recipe.read_bytes())
    names = [name for name in STAGES if name not in scene.without]
    pipeline = make_pipeline(scene.settings, names, scene.stages)

    def tell(event: Event) -> None:
        pipe.send(replace(event, pcm=b"") if isinstance(event, AudioFrame | SpeechChunk) else event)

    pipeline.subscribe(tell)
    return open_screen(scene.settings, record, pipeline)


if __name__ == "__main__":
    sys.exit(show(Path(sys.argv[1]), Path(sys.argv[2]), Connection(int(sys.argv[3]), readable=False)))
