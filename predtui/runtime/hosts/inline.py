"""A host without threads: a test or a bench decides, yield by yield, when its stage goes on. For virtual clocks."""

from __future__ import annotations

from collections.abc import Iterator

from predtui.clock import Clock
from predtui.runtime.hosts.base import Emit
from predtui.runtime.hosts.inbox import FRAME_CAPACITY, Inbox
from predtui.runtime.hosts.runner import StageRunner
from predtui.state.events import Event, StageStatus
from predtui.state.stage import StageSpec


class InlineHost:
    """Deterministic: nothing happens but in ``step`` and ``run``."""

    def __init__(self, spec: StageSpec, emit: Emit, clock: Clock, frame_capacity: int = FRAME_CAPACITY) -> None:
        self.spec = spec
        self.status = StageStatus(stage=spec.name, state="stopped")
        self._emit = emit
        self._clock = clock
        self._capacity = frame_capacity
        self._types: tuple[type[Event], ...] | None = None
        self._runner: StageRunner | None = None
        self._work: Iterator[Event] | None = None
        self._opened = False

    @property
    def alive(self) -> bool:
        return self._runner is not None

    @property
    def tick(self) -> float | None:
        """The stage's, once it is open."""
        return self._runner.tick if self._runner else None

    @property
    def pid(self) -> int | None:
        return None

    def accepts(self, event: Event) -> bool:
        return self._types is None or isinstance(event, self._types)

    def start(self) -> None:
        self._runner = StageRunner(self.spec, self._clock, Inbox(self._capacity), emit=self._report)
        self._work, self._opened = self._runner.open(self._announce), False

    def send(self, event: Event) -> None:
        if self._runner and self.accepts(event) and self._runner.inbox.put(event):
            self._report(self._runner.overflow())

    def step(self) -> bool:
        """Go on to the stage's next yield. False when there was nothing to do."""
        if self._runner is None:
            return False
        if self._work is None:
            event = self._next()
            if event is None:
                return False
            self._work = self._runner.handle(event)
        out = next(self._work, None)
        if out is not None:
            self._report(out)
            return True
        if not self._opened and self._runner.failed:
            self.stop()
            return True
        self._work, self._opened = None, True
        return True

    def run(self) -> None:
        """Handle all that waits."""
        while self.step():
            pass

    def idle(self) -> None:
        """One idle call, as after a tick."""
        if self._runner and self._work is None and self._opened:
            for out in self._runner.idle():
                self._report(out)

    def stop(self) -> None:
        if self._runner:
            self._runner.inbox.close()
            self._runner.close()
        self._runner = self._work = None

    def restart(self) -> None:
        self.stop()
        self.start()

    def _next(self) -> Event | None:
        """What waits, if the stage takes it: it may have been queued before the types were known."""
        assert self._runner is not None
        while len(self._runner.inbox):
            event = self._runner.inbox.get(0.0)
            if event is not None and self.accepts(event):
                return event
        return None

    def _announce(self, types: tuple[type[Event], ...]) -> None:
        self._types = types

    def _report(self, event: Event) -> None:
        if isinstance(event, StageStatus) and event.stage == self.spec.name:
            self.status = event
        self._emit(event)
