"""A host that runs its stage in a process of its own, whose crash is an event. Must not import what the stage needs."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from predtui.clock import Clock
from predtui.llm.remote.keys import VARIABLES
from predtui.runtime.hosts.base import Emit, overflow_notice
from predtui.runtime.hosts.beats import Beat, Beats
from predtui.runtime.hosts.inbox import Inbox
from predtui.runtime.hosts.watch import healths
from predtui.runtime.hosts.wire import receive
from predtui.runtime.sound import SoundStore
from predtui.state.events import Event, StageState, StageStatus
from predtui.state.stage import StageSpec
from predtui.system import threads
from predtui.system.exits import ending, signal_name
from predtui.system.inherit import popen_options

ASK_S, TERMINATE_S, REAP_S = 1.0, 0.5, 2.0
MOST_PATIENCE = 4.0
"""How many times as long as usual a step may take in a stage that was ended for taking too long."""
FEW_FILES = 24
"""That the app may open, with which it can just run."""
_CHILD = "from predtui.runtime.hosts.child import main; main()"


@dataclass(frozen=True, slots=True)
class Shared:
    """What the processes of all stages have in common: ``store`` takes the sound past this process, ``beats`` are those
    of their hearts. Without a store sound comes through; without beats nobody notices a stage that hangs."""

    store: SoundStore | None = None
    beats: Beats | None = None

    @classmethod
    def made(cls) -> Shared:
        """As much of it as there can be; nothing where the files are needed for the stages themselves."""
        store, beats = None, None
        if _most_files() < FEW_FILES:
            return cls()
        with contextlib.suppress(OSError):
            store = SoundStore()
            beats = Beats()
        return cls(store, beats)

    @property
    def sounds(self) -> tuple[int, ...]:
        """The files of the store."""
        return self.store.files if self.store else ()


class ProcessHost:
    """Spawns ``python -c``, whatever this process was started as. The child's standard output and error, C code's too,
    go to ``log_path``; it ignores SIGINT, and ends when this process does. One that hangs is told of as "silent", and
    ended if it does not go on."""

    def __init__(
        self,
        spec: StageSpec,
        emit: Emit,
        clock: Clock,
        log_path: Path | None = None,
        shared: Shared | None = None,
    ) -> None:
        """``shared``: with the other stages."""
        self.spec = spec
        self.status = self._said = StageStatus(stage=spec.name, state="stopped")
        self._emit = emit
        self._clock = clock
        self._log_path = log_path
        self._shared = shared or Shared()
        self._place = self._shared.beats.place() if self._shared.beats else 0
        self._patience = 1.0
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
                self._life = _Life(self.spec, self._log_path, self._shared, self._place, self._report, self._ended)
            except OSError as error:
                self._tell("failed", f"{self.spec.name} cannot start a process: {error}.")
                return
            self._life.begin()
            if beats := self._shared.beats:
                beats.write(self._place, Beat())
                threading.Thread(
                    target=self._watch, args=(self._life, beats), name=f"{self.spec.name}_watch", daemon=True
                ).start()

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
            self.status = self._said = event
        self._emit(event)

    def _watch(self, life: _Life, beats: Beats) -> None:
        """One whose step takes too long may just be slow: its successor is given more time."""
        for health in healths(life.process, beats, self._place, self._clock, self._patience):
            if health in ("slow", "dead"):
                life.hung = True
                self._patience = min(2 * self._patience, MOST_PATIENCE) if health == "slow" else 1.0
                life.process.kill()
            else:
                self._silent(life, health == "silent")

    def _silent(self, life: _Life, silent: bool) -> None:
        """It says nothing any more, or goes on as it was."""
        if life is not self._life:
            return
        if silent:
            self._tell("silent", "It is restarted unless it goes on within seconds.")
        elif self.status is not self._said:
            self.status = replace(self._said, time=self._clock.now())
            self._emit(self.status)

    def _ended(self, life: _Life, returncode: int) -> None:
        """The process is gone: of its own will after a failed opening, or unexpectedly."""
        with self._lock:
            if life is not self._life:
                return
            self._life = None
        if returncode == 0 and self.status.state == "failed":
            return
        how = "did not respond and was ended" if life.hung else ending(returncode)
        self._tell("restarting", f"{self.spec.name} {how}.", signal_name(returncode))

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
        shared: Shared,
        place: int,
        report: Callable[[_Life, Event], None],
        ended: Callable[[_Life, int], None],
    ) -> None:
        self.outbox = Inbox()
        self.hung = False
        """Whether it was ended because it hung."""
        self._name = spec.name
        self._store = shared.store
        self._recipe = pickle.dumps(spec)
        self._report = report
        self._ended = ended
        self._types: tuple[type[Event], ...] | None = None
        self._typed = threading.Event()
        self._pipe, child_end = Pipe()
        self.process = _spawn(spec, child_end.fileno(), shared, place, log_path)
        child_end.close()

    def begin(self) -> None:
        for target in (self._read, self._write):
            threading.Thread(target=target, name=f"{self._name}-{target.__name__}", daemon=True).start()

    def accepts(self, event: Event) -> bool:
        return self._types is None or isinstance(event, self._types)

    def end(self) -> None:
        """Ask, then insist: the process is gone, and waited for, when this returns, unless the system holds it."""
        self.outbox.close()
        self._typed.set()
        for seconds, insist in ((ASK_S, self.process.terminate), (TERMINATE_S, self.process.kill), (REAP_S, None)):
            try:
                self.process.wait(seconds)
                return
            except subprocess.TimeoutExpired:
                if insist:
                    insist()

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


def _spawn(spec: StageSpec, pipe: int, shared: Shared, place: int, log_path: Path | None) -> subprocess.Popen[bytes]:
    """Its own process group, so that the terminal's Ctrl-C reaches only the app; and no key of a server, unless the
    stage may reach one."""
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONFAULTHANDLER": "1", **threads.environment(spec.threads)}
    if spec.needs is not None and not spec.needs.ports:
        environment = {name: value for name, value in environment.items() if name not in VARIABLES}
    log = (
        os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644) if log_path else os.open(os.devnull, os.O_RDWR)
    )
    beats = shared.beats.file if shared.beats else -1
    try:
        return subprocess.Popen(
            [sys.executable, "-P", "-c", _CHILD, *map(str, (pipe, beats, place, *shared.sounds)), spec.name],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            **popen_options([file for file in (pipe, beats, *shared.sounds) if file >= 0]),
        )
    finally:
        os.close(log)


def _most_files() -> int:
    """That this process may have open at a time."""
    if sys.platform == "win32":
        return sys.maxsize
    import resource

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def process_host(clock: Clock, log_path: Path | None = None) -> Callable[[StageSpec, Emit], ProcessHost]:
    """A maker of process hosts on ``clock`` (the real one: a process has no other), all with the same log, that hand
    sound on to each other past this process."""
    shared = Shared.made()
    return lambda spec, emit: ProcessHost(spec, emit, clock, log_path, shared)
