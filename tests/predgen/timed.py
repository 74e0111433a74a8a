"""A server that takes time, on a virtual clock, and an assistant to whom events come at their times."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from predtui.clock import VirtualClock
from predtui.llm.abilities import Abilities
from predtui.llm.base import Counters, LoadedModel, Preempted, Stale, check_request, never
from predtui.llm.load import load
from predtui.llm.rows import PartialRow, RowList
from predtui.llm.scripted import CharacterTokenizer, ScriptedModel
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage
from predtui.runtime.hosts.inbox import Inbox
from predtui.state.events import Event
from predtui.state.stage import StageContext

STEP_S = 0.01
Stops = Literal["at once", "between forwards", "never"]


@dataclass(frozen=True)
class Speeds:
    """Seconds until the first token and for each other one, and when the server stops with what is given up."""

    first: float
    token: float
    stops: Stops


@dataclass
class World:
    """Its clock goes on where something is waited for, and events come in at their times."""

    clock: VirtualClock = field(default_factory=VirtualClock)
    stale: Stale = never
    coming: deque[Event] = field(default_factory=deque)
    inbox: Inbox = field(default_factory=Inbox)

    def until(self, time: float) -> None:
        """Wait; asked every ``STEP_S`` whether that is still wanted."""
        while True:
            if self.stale():
                raise Preempted
            if self.clock.now() >= time:
                return
            self.to(min(time, self.clock.now() + STEP_S))

    def to(self, time: float) -> None:
        while self.coming and self.coming[0].time <= time:
            event = self.coming.popleft()
            self.clock.advance(max(0.0, event.time - self.clock.now()))
            self.inbox.put(event)
        self.clock.advance(max(0.0, time - self.clock.now()))


class TimedModel:
    """A ``GeneratingModel`` of a server that works on one request at a time, in their order."""

    def __init__(self, given: bool, speeds: Speeds, world: World) -> None:
        self._model, self._speeds, self._world = ScriptedModel(5), speeds, world
        self.counters = Counters()
        self.vocab_size, self.context_size = self._model.vocab_size, self._model.context_size
        self.abilities = Abilities(verifies="exact" if given else "regenerates", rollback="any", top=5, generates=True)
        self._busy = 0.0
        """Until when it works on what was asked so far."""

    def forward(self, tokens: Sequence[int], last: int = 1) -> RowList:
        check_request(tokens, last, self.context_size)
        self.counters.forwards += 1
        start = max(self._world.clock.now(), self._busy)
        try:
            self._world.until(start + self._speeds.first)
        except Preempted:
            self.counters.cancelled += 1
            self._given_up(start, start + self._speeds.first, 1)
            raise
        self._busy = self._world.clock.now()
        rows = self._model.forward(tokens, last)
        return RowList([PartialRow([(token, row.logprob(token)) for token in row.top(5)]) for row in rows])

    def generate(self, tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        check_request(tokens, 1, self.context_size)
        self.counters.forwards += 1
        start = max(self._world.clock.now(), self._busy)
        ready, context, left = start + self._speeds.first, list(tokens), limit
        try:
            while left:
                self._world.until(ready)
                context.append(self._model.forward(context)[0].argmax())
                self.counters.generated += 1
                left = 0 if CharacterTokenizer().is_end(context[-1]) else left - 1
                self._busy = max(self._busy, ready)
                ready += self._speeds.token
                yield context[-1]
        finally:
            if left:
                self.counters.cancelled += 1
                self._given_up(start, ready, left)

    def _given_up(self, start: float, ready: float, left: int) -> None:
        """``left`` tokens were to come, the next when it is ``ready``."""
        now = self._world.clock.now()
        if self._speeds.stops == "never":
            self._busy = max(self._busy, ready + (left - 1) * self._speeds.token)
        elif now > start:
            self._busy = max(self._busy, now if self._speeds.stops == "at once" else ready)

    def forget(self, keep: int = 0) -> None:
        """Nothing is remembered."""

    def close(self) -> None:
        self._model.close()


@dataclass
class TimedAssistant:
    """The stage before such a server."""

    given: bool
    speeds: Speeds
    options: SpeculationOptions
    world: World = field(default_factory=World)

    def __post_init__(self) -> None:
        self._now = Event()
        inbox = self.world.inbox
        context = StageContext(self.world.clock, lambda: inbox.stale(self._now), logging.getLogger("test"), inbox.watch)
        self.stage = SpeculationStage(self.options, self._lent)
        list(self.stage.open(context))

    def _lent(self, _model: str, _engine: str, _threads: int | None, _context: int, halt: Stale) -> LoadedModel:
        self.world.stale = halt
        scripted = load("5", engine="scripted")
        return replace(scripted, name="far", engine="remote", model=TimedModel(self.given, self.speeds, self.world))

    def play(self, events: Sequence[Event]) -> list[Event]:
        """What comes out, each at its time, of what comes in from now on; idle time is used as a host would."""
        began, out, world = self.world.clock.now(), list[Event](), self.world
        world.coming.extend(replace(event, time=event.time + began) for event in events)
        while world.coming or len(world.inbox):
            world.to(world.clock.now())
            event = world.inbox.get(0)
            if event is not None:
                self._now = event
                work = self.stage.handle(event)
            elif self.stage.tick is not None:
                work = self.stage.idle()
            else:
                world.to(world.coming[0].time)
                continue
            out += [replace(said, time=world.clock.now() - began) for said in work]
        return out
