"""A host that runs its stage in a thread of this process: for light stages that cannot crash the interpreter."""

from __future__ import annotations

import threading

from predtui.clock import Clock
from predtui.runtime.hosts.base import Emit
from predtui.runtime.hosts.inbox import Inbox
from predtui.runtime.hosts.runner import StageRunner
from predtui.state.events import Event, StageStatus
from predtui.state.stage import StageSpec

STOP_S = 1.0


class ThreadHost:
    """A stage that does not heed ``stale`` cannot be ended by force: ``stop`` leaves it behind, muted."""

    def __init__(self, spec: StageSpec, emit: Emit, clock: Clock) -> None:
        self.spec = spec
        self.status = StageStatus(stage=spec.name, state="stopped")
        self._emit = emit
        self._clock = clock
        self._types: tuple[type[Event], ...] | None = None
        self._runner: StageRunner | None = None
        self._thread: threading.Thread | None = None

    @property
    def alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def pid(self) -> int | None:
        return None

    def accepts(self, event: Event) -> bool:
        return self._types is None or isinstance(event, self._types)

    def start(self) -> None:
        self._runner = runner = StageRunner(
            self.spec, self._clock, Inbox(), emit=lambda event: self._report(runner, event)
        )
        self._thread = threading.Thread(target=self._run, args=(runner,), name=self.spec.name, daemon=True)
        self._thread.start()

    def send(self, event: Event) -> None:
        runner = self._runner
        if runner and self.accepts(event) and runner.inbox.put(event):
            self._report(runner, runner.overflow())

    def stop(self) -> None:
        runner, thread = self._runner, self._thread
        self._runner = self._thread = None
        if runner and thread:
            runner.inbox.close()
            thread.join(STOP_S)

    def restart(self) -> None:
        self.stop()
        self.start()

    def _run(self, runner: StageRunner) -> None:
        for out in runner.open(self._announce):
            self._report(runner, out)
        if not runner.failed:
            runner.serve(lambda out: self._report(runner, out), self.accepts)
        runner.close()

    def _announce(self, types: tuple[type[Event], ...]) -> None:
        self._types = types

    def _report(self, runner: StageRunner, event: Event) -> None:
        if runner is not self._runner:
            return
        if isinstance(event, StageStatus) and event.stage == self.spec.name:
            self.status = event
        self._emit(event)
