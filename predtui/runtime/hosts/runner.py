"""Drives one stage: opens it, hands it events, stamps and times what it yields, and turns exceptions into statuses.

Used by every host, so that a stage behaves alike in all of them. Must not know where it runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import Any

from predtui.clock import Clock
from predtui.errors import FREE_MEMORY, PredtuiError, described, starved
from predtui.runtime.hosts.base import Emit, make_stage, overflow_notice
from predtui.runtime.hosts.beats import Heart
from predtui.runtime.hosts.inbox import Inbox
from predtui.state.events import Event, StageState, StageStatus, Work
from predtui.state.stage import Stage, StageContext, StageSpec

SHORTEST_WORK_S = 0.0005
"""Shorter work leaves no bar on the timeline."""
PIECE_S = 0.25
"""Longer work is reported in pieces, so that the timeline shows it while it lasts."""


def unheard(_event: Event) -> None:
    """Nobody is told before the next yield."""


class StageRunner:
    """One stage with its inbox. All generators yield stamped events and never raise an ``Exception``."""

    def __init__(
        self, spec: StageSpec, clock: Clock, inbox: Inbox, heart: Heart | None = None, emit: Emit = unheard
    ) -> None:
        """``heart``: tells others what the stage does, and that it goes on. ``emit``: for what cannot
        wait for a yield."""
        self.spec = spec
        self.inbox = inbox
        self._clock = clock
        self._heart, self._emit = heart or Heart(), emit
        self._log = logging.getLogger(f"predtui.state.stage.{spec.name}")
        self._stage: Stage | None = None
        self._current = Event()
        self._work: Work | None = None
        self._failed = False
        self._described = StageStatus()

    @property
    def tick(self) -> float | None:
        return self._stage.tick if self._stage else None

    def make(self) -> tuple[type[Event], ...]:
        """Create the stage; the event types it takes. Raises PredtuiError, or whatever its factory raises."""
        self._stage = make_stage(self.spec)
        return self._stage.accepts

    def open(self, announce: Callable[[tuple[type[Event], ...]], None]) -> Iterator[Event]:
        """Create and open the stage, telling what it takes as soon as that is known; ends with "ready" or "failed".

        What the stage says of itself at progress 1 is repeated whenever it is ready: its line, and what it lacks.
        """
        yield self._status("starting")
        self._failed = False
        for event in self._guarded(lambda: self._opening(announce), "open"):
            yield self._noted(event)
        if not self._failed:
            yield self._ready()
        yield from self._flush()

    @property
    def failed(self) -> bool:
        """Whether the last thing tried ended in an exception."""
        return self._failed

    def handle(self, event: Event) -> Iterator[Event]:
        """Let the stage handle ``event``. The first success after a failure reports "ready" again."""
        self._current, failed_before = event, self._failed
        self._failed = False
        stage = self._opened()
        for out in self._guarded(lambda: stage.handle(event), type(event).__name__):
            yield self._noted(out)
        if failed_before and not self._failed:
            yield self._ready()
        if not len(self.inbox):
            yield from self._flush()

    def idle(self) -> Iterator[Event]:
        """Let the stage do its small piece of work."""
        for out in self._guarded(self._opened().idle, "idle"):
            yield self._noted(out)
        if self.tick != 0.0:  # more of the same comes at once, and is reported with it
            yield from self._flush()

    def close(self) -> None:
        """Close the stage; an exception goes to the log."""
        if self._stage is None:
            return
        try:
            self._stage.close()
        except Exception:
            self._log.exception("closing stage %s", self.spec.name)
        self._stage = None

    def serve(self, emit: Emit, accepts: Callable[[Event], bool]) -> None:
        """Handle the events that ``accepts`` lets pass until the inbox is closed: for hosts with a thread to give."""
        while not self.inbox.closed:
            self._heart.turn_to("idle")
            event = self.inbox.get(self.tick)
            self._heart.turn_to("working")
            if self.inbox.closed:
                return
            if event is None:
                outs = self.idle()
            elif accepts(event):
                outs = self.handle(event)
            else:
                continue
            for out in outs:
                emit(out)

    def overflow(self) -> Event:
        """The notice that sound is being dropped, stamped."""
        return self._stamp(overflow_notice(self.spec.name))

    def _opened(self) -> Stage:
        if self._stage is None:
            raise RuntimeError(f"stage {self.spec.name} is not open")
        return self._stage

    def _opening(self, announce: Callable[[tuple[type[Event], ...]], None]) -> Iterator[Event]:
        announce(self.make())
        context = StageContext(
            self._clock,
            self._stale,
            self._log,
            self.inbox.watch,
            self._heart.allow,
            lambda: self.inbox.closed,
            self._waits,
        )
        yield from self._opened().open(context)

    def _stale(self) -> bool:
        self._heart.step()
        return self.inbox.stale(self._current)

    def _waits(self, line: str) -> None:
        self._emit(self._status("waiting", line) if line else self._ready())

    def _guarded(self, work: Callable[[], Iterator[Event]], label: str) -> Iterator[Event]:
        start = self._clock.now()
        try:
            for event in work():
                self._heart.step()
                yield self._stamp(event)
                if self._clock.now() - start >= PIECE_S:
                    start = yield from self._worked(start, label)
        except PredtuiError as error:
            self._failed = True
            yield self._status("failed", str(error))
        except Exception as error:
            self._failed = True
            self._log.exception("stage %s failed at %s", self.spec.name, label)
            line = f"{self.spec.name} failed at {label}: {described(error)}"
            yield self._status("failed", f"{line}. {FREE_MEMORY if starved(error) else 'The log has the details.'}")
        yield from self._worked(start, label)

    def _noted(self, event: Event) -> Event:
        if isinstance(event, StageStatus) and event.progress == 1.0:
            self._described = event
        return event

    def _stamp(self, event: Event) -> Event:
        changes: dict[str, Any] = {}
        if event.generation == (0, 0):
            changes.update(turn=self._current.turn, revision=self._current.revision)
        if event.time == 0.0:
            changes["time"] = self._clock.now()
        if isinstance(event, StageStatus) and not event.stage:
            changes["stage"] = self.spec.name
        return replace(event, **changes) if changes else event

    def _ready(self) -> Event:
        said = self._described
        return self._stamp(StageStatus(stage=self.spec.name, state="ready", message=said.message, lacks=said.lacks))

    def _status(self, state: StageState, message: str = "") -> Event:
        return self._stamp(StageStatus(stage=self.spec.name, state=state, message=message))

    def _worked(self, start: float, label: str) -> Generator[Event, None, float]:
        """Note work since ``start``, merged with what went right before; returns now."""
        end, last = self._clock.now(), self._work
        if last and last.label == label and start - last.end < 0.002 and end - last.start < PIECE_S:
            self._work = replace(last, end=end)
            return end
        yield from self._flush()
        self._work = Work(stage=self.spec.name, start=start, end=end, label=label)
        if end - start >= PIECE_S:
            yield from self._flush()
        return end

    def _flush(self) -> Iterator[Event]:
        work, self._work = self._work, None
        if work and work.end - work.start >= SHORTEST_WORK_S:
            yield self._stamp(work)
