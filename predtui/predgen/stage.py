"""The "llm" stage: partial prompts in, candidates, verdicts and a verified reply out.

It sends each event to where its work is done: a turn's to ``turn``, what may come to ``lookahead.idle``, the comparison
with plain decoding to ``baseline``. What decides when such work is due (a pause in what is said, an idle moment) is a
module of its own beside them, asked in ``handle`` and ``idle``. Must not know of sound, of queues, or of the screen.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

from predtui.decoding.costs.curve import Curve
from predtui.errors import PredtuiError
from predtui.llm.base import Preempted, leave
from predtui.llm.load import DraftLoader, Loader, load
from predtui.llm.requested import ServerTimes
from predtui.llm.waiting import ServiceError
from predtui.predgen.assembly import Sources, assembled, prefill
from predtui.predgen.baseline import BaselineMeter
from predtui.predgen.loading import Loading
from predtui.predgen.lookahead.idle import IdleWork
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.preemption import Preemption
from predtui.predgen.spending import GUESSES
from predtui.predgen.turn import SpeculatedTurn
from predtui.settings import LlmSettings
from predtui.state.events import (
    Configure,
    Event,
    Interrupt,
    MeasureBaseline,
    Notice,
    ReplyFinished,
    Resumed,
    SentenceAhead,
    Transcript,
    TurnStarted,
)
from predtui.state.stage import StageContext


def create(options: SpeculationOptions) -> SpeculationStage:
    loader, loading = partial(load, weights=options.weights, placement=options.placement), Loading()
    told = partial(loader, told=loading)
    return SpeculationStage(options, told, draft_loader=loader, remembers=True, loading=loading)


def from_settings(settings: LlmSettings) -> SpeculationStage:
    return create(SpeculationOptions.of(settings))


LEARNING_S = 0.02
"""Between two pieces of what a draft learns: most of the time is others'."""
CHUNK = 256
"""Tokens that an engine evaluates at most before it asks whether to go on."""


class SpeculationStage:
    """Input-time speculation as a stage. Stops between forwards when its work is stale, keeps every token, and emits
    nothing more of a revision that was pre-empted."""

    accepts: tuple[type[Event], ...] = (TurnStarted, Resumed, Transcript, Interrupt, Configure, MeasureBaseline)
    tick: float | None = None

    def __init__(
        self,
        options: SpeculationOptions,
        loader: Loader = load,
        costs: Curve | None = None,
        draft_loader: DraftLoader = load,
        remembers: bool = False,
        loading: Loading | None = None,
        times: ServerTimes | None = None,
    ) -> None:
        """``costs``: seconds of a forward by the tokens it evaluates; None: measured when the model is opened, or,
        where the stage ``remembers``, when it is first opened on a machine. ``loading``: what the loader tells how far
        it is. ``times``: what is known of the server of a model behind a network; None: it is tried."""
        self._options = options
        self._sources = Sources(loader, draft_loader, costs, remembers, loading, times)
        self._opened = ExitStack()
        """Closes what ``open`` has opened, however far it came."""
        self._spoken = self._listening = False
        """Whether the turn is, and whether a recogniser is at work on it, for which a core is left."""
        self._learns = False
        """Whether the turn is over, and something may be left to learn of it."""

    def open(self, context: StageContext) -> Iterator[Event]:
        options = self._options
        self._context = context
        self._preemption = Preemption(context.clock, options.preempts, self._answering_ahead, context.stale)
        self._idle = IdleWork(options.continuations > 0, always=not options.policy)
        self._parts = parts = yield from assembled(options, self._sources, context, self._preemption, self._opened)
        context.watch(self._arrived)  # from here on: what is computed to open is for whatever comes
        self._baseline = BaselineMeter(parts.loaded, parts.plain, parts.window, options.reply_tokens, context.clock)
        self._turn = self._new_turn(TurnStarted())
        if parts.costs:
            context.allow(parts.costs.seconds(CHUNK))
        yield from self._told()

    def handle(self, event: Event) -> Iterator[Event]:
        distance = self._parts.distance
        self._preemption.handled(event)
        distance.handled(event)
        try:
            if isinstance(event, TurnStarted):
                self._start(event)
            elif isinstance(event, Resumed):  # evaluated while nobody waits for it
                self._start(TurnStarted(history=event.history))
            elif isinstance(event, Transcript):
                yield from self._transcript(event)
            elif isinstance(event, Interrupt):
                self._listen(False)
                yield from self._replied(self._turn.interrupt())
            elif isinstance(event, Configure):
                yield from self._configure(event)
            elif isinstance(event, MeasureBaseline):
                with self._parts.spending.aside():
                    yield from self._baseline.measure(event, self._context.stale)
        except Preempted:
            self._context.log.debug("%s was pre-empted between chunks", type(event).__name__)
        except ServiceError as error:
            if not error.passing or (isinstance(event, Transcript) and event.final):
                raise
            self._context.log.warning("%s Nothing is guessed meanwhile.", error.message)
        finally:
            distance.over()
        yield from self._spent()

    def _arrived(self, event: Event) -> None:
        self._preemption.arrived(event)
        self._parts.distance.arrived(event)

    def idle(self) -> Iterator[Event]:
        """A forward for what may come, or a piece of what a draft learns."""
        if not self._idle.pending and self._learns:
            self._learns = self._parts.decoding.learn(self._context.stale) and not self._context.stale()
            yield from self._told()
        step = self._idle.step()
        if step is not None and not self._context.stale():
            yield from self._turn.sentences.proposed(step) if isinstance(step, SentenceAhead) else (step,)
        if self._parts.spending.used_up(GUESSES):
            self._idle.drop()
        self._schedule()
        if not self._idle.pending:
            self._parts.distance.over()
            yield from self._spent()

    def close(self) -> None:
        self._opened.close()

    def _start(self, event: TurnStarted) -> None:
        self._rest()
        self._spoken = event.source != "typed"
        self._listen(self._spoken)
        self._parts.speculator.reset()
        self._parts.spending.begin()
        self._parts.ends.begin(self._spoken)
        self._turn = self._new_turn(event)
        prefill(self._parts.loaded.model, self._turn.opening)

    def _new_turn(self, event: TurnStarted) -> SpeculatedTurn:
        return SpeculatedTurn(self._parts, self._context, self._preemption, self._idle, self._baseline, event.history)

    def _transcript(self, event: Transcript) -> Iterator[Event]:
        self._rest()
        self._listen(self._spoken and event.unfinished and not event.final)
        yield from self._replied(self._turn.hear(event))
        self._learns = event.final and bool(self._parts.decoding.learners)
        self._schedule()
        asking = self._parts.distance.asking
        open_ended = event.text and not event.final and not event.settling and asking.stops
        if open_ended and not self._context.stale() and self._idle.pays and not self._parts.spending.used_up(GUESSES):
            turn = self._turn
            self._idle.begin(self._parts.lookahead.work(turn.history, event, self._context.stale, turn.risk))
            self._schedule()

    def _replied(self, events: Iterator[Event]) -> Iterator[Event]:
        """``events``, the tokens of whose reply were not wasted."""
        for event in events:
            if isinstance(event, ReplyFinished):
                self._parts.spending.spoken(event.tokens)
            yield event

    def _spent(self) -> Iterator[Event]:
        parts = self._parts
        yield from parts.spending.events(len(parts.speculator.candidate), parts.distance.asking.asks)

    def _configure(self, event: Configure) -> Iterator[Event]:
        if not event.verifier:
            return
        try:
            self._parts.speculator.verify_by(self._parts.verifier(event.verifier))
        except PredtuiError as error:
            yield Notice(text=str(error), severity="error")

    def _told(self) -> Iterator[Event]:
        for line in self._parts.decoding.notes():
            yield Notice(text=line, severity="warning")

    def _rest(self) -> None:
        self._idle.drop()
        self._learns = False
        self._schedule()

    def _schedule(self) -> None:
        """Ask for idle time while there is something to do in it."""
        self.tick = 0.0 if self._idle.pending else LEARNING_S if self._learns else None

    def _listen(self, listening: bool) -> None:
        if listening != self._listening:
            self._listening = listening
            leave(self._parts.loaded.model, 1 if listening else -1)

    def _answering_ahead(self) -> str | None:
        return self._parts.lookahead.answering if self._idle.pending else None
