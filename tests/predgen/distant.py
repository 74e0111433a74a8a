"""A server in memory, and an assistant to whom events come while it waits for one."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace

from predtui.clock import VirtualClock
from predtui.llm.abilities import Abilities, Verifies
from predtui.llm.base import Counters, LoadedModel, Preempted, Stale, check_request, never
from predtui.llm.load import load
from predtui.llm.rows import PartialRow, Row, RowList, Unanswered
from predtui.llm.scripted import CharacterTokenizer, ScriptedModel
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage
from predtui.runtime.hosts.inbox import Inbox
from predtui.state.events import Event, Transcript, TurnStarted
from predtui.state.stage import StageContext

TOLD = 5
OPTIONS = SpeculationOptions(model="5", engine="scripted", system="sys", reply_tokens=60, candidate_tokens=25)
Wait = Callable[[], object]


@dataclass
class Network:
    """The way to a server. ``wait``: called once for each time that something is waited for."""

    stale: Stale = never
    wait: Wait = bool
    open: int = 0
    """Requests that are under way ..."""
    most: int = 0
    """... and the most there were at once."""

    def waited(self) -> None:
        self.wait()
        if self.stale():
            raise Preempted

    def begin(self) -> None:
        self.open += 1
        self.most = max(self.most, self.open)

    def end(self) -> None:
        self.open -= 1


class DistantModel:
    """A ``GeneratingModel``; ``given``: whether it tells the rows of tokens that it is given."""

    def __init__(self, seed: int, given: bool, network: Network) -> None:
        self._model, self._network = ScriptedModel(seed), network
        self.counters = Counters()
        self.vocab_size, self.context_size = self._model.vocab_size, self._model.context_size
        verifies: Verifies = "exact" if given else "regenerates"
        self.abilities = Abilities(verifies=verifies, rollback="any", top=TOLD, generates=True)
        self.asked: list[tuple[int, ...]] = []
        """What each token was generated after."""

    def forward(self, tokens: Sequence[int], last: int = 1) -> RowList:
        check_request(tokens, last, self.context_size)
        if last > 1 and self.abilities.verifies != "exact":
            raise Unanswered("nothing is told of tokens that are given")
        self.counters.forwards += 1
        self._network.begin()
        try:
            self._network.waited()
            return RowList([_told(row) for row in self._model.forward(tokens, last)])
        except Preempted:
            self.counters.cancelled += 1
            raise
        finally:
            self._network.end()

    def generate(self, tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        check_request(tokens, 1, self.context_size)
        self.counters.forwards += 1
        self._network.begin()
        context, left = list(tokens), limit
        try:
            while left:
                self._network.waited()
                self.asked.append(tuple(context))
                context.append(self._model.forward(context)[0].argmax())
                self.counters.generated += 1
                left = 0 if CharacterTokenizer().is_end(context[-1]) else left - 1
                yield context[-1]
        finally:
            self.counters.cancelled += left > 0
            self._network.end()

    def forget(self, keep: int = 0) -> None:
        """Nothing is remembered."""

    def close(self) -> None:
        self._model.close()


def _told(row: Row) -> PartialRow:
    return PartialRow([(token, row.logprob(token)) for token in row.top(TOLD)])


def distant(seed: int, given: bool, network: Network) -> LoadedModel:
    scripted = load(str(seed), engine="scripted")
    return replace(scripted, name="far", engine="remote", model=DistantModel(seed, given, network))


@dataclass
class Assistant:
    """The stage with a host in whose hands events come: ``coming`` holds each with the waits until it does."""

    lend: Callable[[Network], LoadedModel]
    options: SpeculationOptions = OPTIONS
    draft: str = "5"
    """The seed of the model that drafts, where one does."""
    network: Network = field(default_factory=Network)
    coming: deque[tuple[int, Event]] = field(default_factory=deque)
    out: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._inbox, self._now = Inbox(), Event()
        self._turn = self._revision = 0
        context = StageContext(
            VirtualClock(), lambda: self._inbox.stale(self._now), logging.getLogger("test"), self._inbox.watch
        )
        near = replace(load(self.draft, engine="scripted"), name="near")
        self.stage = SpeculationStage(self.options, self._lent, draft_loader=lambda *_: near)
        list(self.stage.open(context))
        self.loaded = self.stage._parts.loaded
        self.network.wait = self._waited
        self._begin()

    def _begin(self) -> None:
        """What was asked to open the model is no part of what is tested."""
        if isinstance(self.far, DistantModel):
            self.far.asked.clear()
        counters = self.far.counters
        self.network.most = counters.cancelled = 0

    def _lent(self, _model: str, _engine: str, _threads: int | None, _context: int, halt: Stale) -> LoadedModel:
        self.network.stale = halt
        lent = self.lend(self.network)
        self.far = lent.model
        return lent

    def _waited(self) -> None:
        if self.coming:
            after, event = self.coming.popleft()
            self.coming.appendleft((after - 1, event))
            if after <= 0:
                self._arrive()

    def _arrive(self) -> None:
        _, event = self.coming.popleft()
        if isinstance(event, TurnStarted):
            self._turn, self._revision = self._turn + 1, 0
        else:
            self._revision += 1
        self._inbox.put(replace(event, turn=self._turn, revision=self._revision))

    def run(self, *events: tuple[int, Event]) -> list[Event]:
        """Handle all, and what may be done in idle time between them; what came out, stamped as a host would."""
        self.coming.extend(events)
        began = len(self.out)
        while self.coming or len(self._inbox):
            event = self._inbox.get(0)
            if event is not None:
                self._now = event
                self._take(self.stage.handle(event))
            elif self.stage.tick is not None:
                self._take(self.stage.idle())
            else:
                self._arrive()
        return self.out[began:]

    def _take(self, events: Iterator[Event]) -> None:
        for event in events:
            self.out.append(replace(event, turn=self._now.turn, revision=self._now.revision))


def typed(*prompts: str) -> list[Event]:
    """A turn of partial prompts and the last one, which is final."""
    partial = [Transcript(tentative=prompt, unfinished=False) for prompt in prompts[:-1]]
    return [TurnStarted(), *partial, Transcript(stable=prompts[-1], final=True)]
