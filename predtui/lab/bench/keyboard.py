"""The app in a pseudo-terminal: keys go in as bytes, and what it does is read from the session that it records.

Times are those of the machine's monotonic clock, which all processes share: a turn counts from the moment its Enter key
was written to the terminal. Must not know what is measured.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pickle
import pty
import signal
import struct
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from predtui.errors import PredtuiError
from predtui.runtime.build import make_pipeline
from predtui.runtime.stages import STAGES
from predtui.settings import SessionsSettings, Settings
from predtui.state.codec import from_json
from predtui.state.events import PASSING, Event, StageStatus
from predtui.state.recorder import EVENTS_FILE
from predtui.state.reducer import reduce
from predtui.state.stage import StageSpec
from predtui.state.turn import Turn

SIZE = (36, 120)
"""Lines and columns."""
PATIENCE_S = 60.0
"""An app that does nothing new for so long has failed."""
_PASTE = "\x1b[200~{}\x1b[201~"


@dataclass(frozen=True, slots=True)
class Scene:
    """What the app is opened with: ``stages`` take the place of those of their names that the settings make."""

    settings: Settings
    stages: tuple[StageSpec, ...] = ()
    without: tuple[str, ...] = ()
    """Names of stages that are left out."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One turn: when Enter was written, the events since the first key, and the turn at its end."""

    enter: float
    events: list[Event]
    turn: Turn

    @property
    def audio_latency_ms(self) -> float | None:
        """From the Enter key to the first sample that was played."""
        heard = self.turn.marks.audible
        return None if heard is None else (heard - self.enter) * 1000

    @property
    def key_ms(self) -> float | None:
        """From the Enter key to the final prompt: the terminal, the screen and its queues."""
        final = self.turn.marks.final
        return None if final is None else (final - self.enter) * 1000

    @property
    def baseline_audio_latency_ms(self) -> float | None:
        """The same without speculation: as measured after the turn, with the way of the key that this one paid."""
        without = self.turn.baseline_audio_latency_ms
        return None if without is None or self.key_ms is None else without + self.key_ms


class Terminal:
    """A running app. Opened by ``with``, which waits until its stages are ready; closed, it is gone.

    Raises PredtuiError where it does not open, or does nothing for a minute.
    """

    def __init__(self, scene: Scene) -> None:
        self._home = tempfile.TemporaryDirectory()
        self._session = Path(self._home.name) / "session"
        self._scene = scene
        self._lines: TextIO | None = None
        self._state = Turn()

    def __enter__(self) -> Self:
        self._pid, self._pipe = self._spawn()
        threading.Thread(target=self._drained, daemon=True).start()
        settled: set[str] = set()
        for event in self._told():
            if isinstance(event, StageStatus) and event.state in ("ready", "failed", "stopped"):
                settled.add(event.stage)
                if event.stage == "llm" and event.state == "failed":
                    raise PredtuiError(f"The app cannot answer: {event.message}")
            if settled >= set(STAGES):
                break
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.press("\x11")  # Ctrl+Q: its processes end with it
            self._reap()
        os.close(self._pipe)
        if self._lines:
            self._lines.close()
        self._home.cleanup()

    def press(self, keys: str) -> float:
        """Write them at once; when."""
        now, rest = time.monotonic(), keys.encode()
        while rest:
            rest = rest[os.write(self._pipe, rest) :]
        return now

    def ask(self, text: str, delay: float, baseline: bool = True) -> Asked:
        """Type ``text`` in one line, a key every ``delay`` seconds, 0: pasted, and Enter; until the reply has been
        heard and, with ``baseline``, been compared with plain decoding."""
        text = " ".join(text.split())
        if delay:
            next_key = time.monotonic()
            for key in text:
                self.press(key)
                next_key += delay
                time.sleep(max(0.0, next_key - time.monotonic()))
        else:
            self.press(_PASTE.format(text))
        before, enter = self._state.number, self.press("\r")
        events = self.until(lambda turn: turn.number > before and _over(turn, baseline))
        return Asked(enter, events, self._state)

    def until(self, enough: Callable[[Turn], bool]) -> list[Event]:
        """The events until the turn is as wanted."""
        events: list[Event] = []
        for event in self._told():
            events.append(event)
            if enough(self._state):
                break
        return events

    def _told(self) -> Iterator[Event]:
        """Events as they are recorded; utilisation alone is no sign of life."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            event = self._next()
            if event is None:
                time.sleep(0.005)
            elif not isinstance(event, PASSING):
                deadline = time.monotonic() + PATIENCE_S
                self._state = reduce(self._state, event)
                yield event
        raise PredtuiError(f"The app has done nothing for {PATIENCE_S:.0f} s.", "Its log tells more: predtui doctor")

    def _next(self) -> Event | None:
        """The next whole line of the session."""
        if self._lines is None:
            file = self._session / EVENTS_FILE
            if not file.exists():
                return None
            self._lines = file.open(encoding="utf-8")
        start = self._lines.tell()
        line = self._lines.readline()
        if line.endswith("\n"):
            return from_json(json.loads(line), lambda kept: b"")
        self._lines.seek(start)
        return None

    def _spawn(self) -> tuple[int, int]:
        recipe = Path(self._home.name) / "scene"
        recipe.write_bytes(pickle.dumps(self._scene))
        pid, pipe = pty.fork()
        if pid == 0:
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor", PREDTUI_UI_TOUR="off")
            os.execv(
                sys.executable, [sys.executable, "-m", "predtui.lab.bench.keyboard", str(recipe), str(self._session)]
            )
        fcntl.ioctl(pipe, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
        return pid, pipe

    def _drained(self) -> None:
        """What it draws is taken, so that it need not wait."""
        with contextlib.suppress(OSError):
            while os.read(self._pipe, 65536):
                pass

    def _reap(self) -> None:
        for _ in range(50):
            if os.waitpid(self._pid, os.WNOHANG)[0]:
                return
            time.sleep(0.1)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def _over(turn: Turn, baseline: bool) -> bool:
    if turn.phase != "done" or not turn.transcript.final:
        return False
    return turn.measured() or not baseline or not turn.reply_text


def show(recipe: Path, record: Path) -> int:
    """What runs in the pseudo-terminal: the screen of the scene that ``recipe`` holds. Returns the exit status."""
    from predtui.tui.launch import open_screen

    scene: Scene = pickle.loads(recipe.read_bytes())
    names = [name for name in STAGES if name not in scene.without]
    settings = replace(scene.settings, sessions=SessionsSettings(private=True))
    return open_screen(settings, record, make_pipeline(settings, names, scene.stages))


if __name__ == "__main__":
    sys.exit(show(Path(sys.argv[1]), Path(sys.argv[2])))
