"""A host that runs its stage in a process of its own, whose crash is an event. Must not import what the stage needs.

POSIX only: the pipe to the child is an inherited socket.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from predtui.clock import Clock
from predtui.runtime.hosts.base import Emit, overflow_notice
from predtui.runtime.hosts.inbox import Inbox
from predtui.runtime.hosts.wire import receive
from predtui.runtime.sound import SoundStore
from predtui.state.events import Event, StageState, StageStatus
from predtui.state.stage import StageSpec
from predtui.system.exits import ending, signal_name

ASK_S, TERMINATE_S = 1.0, 0.5
_CHILD = "from predtui.runtime.hosts.child import main; main()"


class ProcessHost:
    """Spawns ``python -c``, whatever this process was started as. The child's standard output and error, C code's too,
    go to ``log_path``; it ignores SIGINT, and ends when this process does."""

    def __init__(
        self,
        spec: StageSpec,
        emit: Emit,
        clock: Clock,
        log_path: Path | None = None,
        store: SoundStore | None = None,
    ) -> None:
        """``store``: takes the sound past this process; without one it comes through."""
        self.spec = spec
        self.status = StageStatus(stage=spec.name, state="stopped")
        self._emit = emit
        self._clock = clock
        self._log_path = log_path
        self._store = store
        self._life: _Life | None = None
        self._lock = threading.Lock()

    @property
    def alive(self) -> bool:
        life = self._life
        return life is not None and life.process.poll() is None

    @property
    def pid(self) -> int | None:
        life = self._life
        return life.process.pid if life and life.process.poll() is None else None

    def accepts(self, event: Event) -> bool:
        life = self._life
        return life is None or life.accepts(event)

    def start(self) -> None:
        with self._lock:
            try:
                self._life = _Life(self.spec, self._log_path, self._store, self._report, self._ended)
            except OSError as error:
                self._tell("failed", f"{self.spec.name} cannot start a process: {error}.")
                return
            self._life.begin()

    def send(self, event: Event) -> None:
        life = self._life
        if life and life.accepts(event) and life.outbox.put(event):
            self._emit(overflow_notice(self.spec.name))

    def stop(self) -> None:
        with self._lock:
            life, self._life = self._life, None
        if life:
            life.end()

    def restart(self) -> None:
        self.stop()
        self.start()

    def _report(self, life: _Life, event: Event) -> None:
        if life is not self._life:
            return
        if isinstance(event, StageStatus) and event.stage == self.spec.name:
            self.status = event
        self._emit(event)

    def _ended(self, life: _Life, returncode: int) -> None:
        """The process is gone: of its own will after a failed opening, or unexpectedly."""
        with self._lock:
            if life is not self._life:
                return
            self._life = None
        if returncode == 0 and self.status.state == "failed":
            return
        self._tell("restarting", f"{self.spec.name} {ending(returncode)}.", signal_name(returncode))

    def _tell(self, state: StageState, message: str, signal: str = "") -> None:
        self.status = StageStatus(
            stage=self.spec.name, state=state, message=message, signal=signal, time=self._clock.now()
        )
        self._emit(self.status)


class _Life:
    """One process from spawn to end, with the two threads that talk to it."""

    def __init__(
        self,
        spec: StageSpec,
        log_path: Path | None,
        store: SoundStore | None,
        report: Callable[[_Life, Event], None],
        ended: Callable[[_Life, int], None],
    ) -> None:
        self.outbox = Inbox()
        self._name = spec.name
        self._store = store
        self._recipe = pickle.dumps(spec)
        self._report = report
        self._ended = ended
        self._types: tuple[type[Event], ...] | None = None
        self._typed = threading.Event()
        self._pipe, child_end = Pipe()
        self.process = _spawn(spec.name, child_end.fileno(), store.files if store else (), log_path)
        child_end.close()

    def begin(self) -> None:
        for target in (self._read, self._write):
            threading.Thread(target=target, name=f"{self._name}-{target.__name__}", daemon=True).start()

    def accepts(self, event: Event) -> bool:
        return self._types is None or isinstance(event, self._types)

    def end(self) -> None:
        """Ask, then insist: the process is gone, and waited for, when this returns."""
        self.outbox.close()
        self._typed.set()
        for seconds, insist in ((ASK_S, self.process.terminate), (TERMINATE_S, self.process.kill)):
            try:
                self.process.wait(seconds)
                return
            except subprocess.TimeoutExpired:
                insist()
        self.process.wait()

    def _write(self) -> None:
        try:
            self._pipe.send_bytes(self._recipe)
            self._typed.wait()
            while not self.outbox.closed:
                event = self.outbox.get()
                if event is not None and self.accepts(event):
                    self._pipe.send(event)
            self._pipe.send(None)
        except OSError:
            return

    def _read(self) -> None:
        try:
            while True:
                self._take(receive(self._pipe))
        except (OSError, EOFError):
            pass
        except Exception:
            logging.getLogger("predtui.runtime.hosts").exception("stage %s sent something unreadable", self._name)
        try:
            returncode = self.process.wait(ASK_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            returncode = self.process.wait()
        self.outbox.close()
        self._typed.set()
        self._ended(self, returncode)
        self._pipe.close()

    def _take(self, message: Any) -> None:
        if isinstance(message, tuple):
            self._types = message
            self._typed.set()
        else:
            self._report(self, self._store.claimed(message) if self._store else message)


def _spawn(name: str, pipe: int, files: Sequence[int], log_path: Path | None) -> subprocess.Popen[bytes]:
    """Its own process group, so that the terminal's Ctrl-C reaches only the app."""
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONFAULTHANDLER": "1"}
    log = (
        os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644) if log_path else os.open(os.devnull, os.O_RDWR)
    )
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-c", _CHILD, str(pipe), *map(str, files), name],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            pass_fds=(pipe, *files),
            process_group=0,
        )
    finally:
        os.close(log)


def process_host(clock: Clock, log_path: Path | None = None) -> Callable[[StageSpec, Emit], ProcessHost]:
    """A maker of process hosts on ``clock`` (the real one: a process has no other), all with the same log, that hand
    sound on to each other past this process, unless there can be no store for it."""
    store = None
    with contextlib.suppress(OSError):
        store = SoundStore()
    return lambda spec, emit: ProcessHost(spec, emit, clock, log_path, store)
