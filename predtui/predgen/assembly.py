"""What input-time speculation works with, put together out of its options, with a line for a person at each step.

Must not know of turns, or of what is done with the parts.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from predtui.decoding.assembly import Assembly, assemble
from predtui.decoding.base import Sampler
from predtui.decoding.costs.curve import Curve
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.measured import measure, recall
from predtui.decoding.sampler import independent, sampler
from predtui.llm.base import LanguageModel, LoadedModel, ModelRequest, Preempted
from predtui.llm.forcing import with_forced_endings
from predtui.llm.load import DraftLoader, Loader, preparing
from predtui.llm.placement import USUAL
from predtui.llm.requested import ServerTimes
from predtui.llm.templates import JinjaTemplate, PlainTemplate
from predtui.llm.thinking import with_thinking
from predtui.llm.unfit import numberless
from predtui.predgen.algorithm import Speculator
from predtui.predgen.distance import Distance
from predtui.predgen.end_of_turn import EndOfTurn
from predtui.predgen.loading import Loading, loaded_by
from predtui.predgen.lookahead.lookahead import LookAhead
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.preemption import Preemption
from predtui.predgen.prompts import system_prompt
from predtui.predgen.revision import DecoderReport
from predtui.predgen.spending import Spending
from predtui.predgen.verifiers import CandidateVerifier, make_verifier
from predtui.predgen.window import Window, no_notes
from predtui.state.events import Event, Notice, StageStatus
from predtui.state.stage import StageContext

if TYPE_CHECKING:
    from predtui.predgen.notes.notes import Notes


@dataclass(frozen=True, slots=True)
class SpeculationParts:
    """``loaded``: the model, whose forwards are measured whoever asks for them. ``plain``: the sampler of the reply
    without speculation. ``costs``: seconds of a forward by the tokens that it evaluates; None where nobody asks."""

    options: SpeculationOptions
    loaded: LoadedModel
    window: Window
    plain: Sampler
    sampler: Sampler
    decoding: Assembly
    costs: Curve | None
    speculator: Speculator
    lookahead: LookAhead
    report: DecoderReport
    spending: Spending
    distance: Distance
    ends: EndOfTurn
    notes: Notes | None

    def verifier(self, name: str) -> CandidateVerifier:
        """Raises PredtuiError for a name that is none."""
        return make_verifier(name, self.loaded, self.sampler, self.costs)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where models come from, and what is known of their ``costs`` (None: they are measured when the model is opened,
    or, where they are ``remembered``, when it is first opened on a machine). ``loading``: what ``load`` tells how far
    it is; None: it tells nobody. ``times``: what is known of a server; None: it is tried."""

    load: Loader
    load_draft: DraftLoader
    costs: Curve | None
    remembered: bool
    loading: Loading | None = None
    times: ServerTimes | None = None


def assembled(
    options: SpeculationOptions, sources: Sources, context: StageContext, preemption: Preemption, opened: ExitStack
) -> Generator[Event, None, SpeculationParts]:
    """The parts; what takes a while is announced. ``opened`` is to close what was opened, however far this comes.
    Raises PredtuiError."""
    threads, halt = options.threads or None, preemption.halt
    request = ModelRequest(options.model, threads, options.context, halt, options.weights, options.placement)
    for message, progress in preparing(options.engine, request):
        yield StageStatus(stage="llm", message=message, progress=progress)
    plain = sampler(options.temperature, options.top_k, options.top_p, options.min_p, options.seed)
    chosen = plain if options.position_seeded else independent(plain)
    load = partial(sources.load, options.model, options.engine, threads, options.context, halt)
    engine = yield from loaded_by(load, sources.loading, options.model, context.closing)
    opened.callback(engine.model.close)
    instrument = Instrument(context.clock, sources.costs)
    thinker = with_thinking(engine, options.thinking, options.thought_tokens)
    distance = Distance(thinker.model, context, preemption, sources.times)
    thinker = replace(thinker, model=distance.model)
    ends = EndOfTurn(replace(thinker, model=with_forced_endings(thinker)))
    loaded = replace(thinker, model=instrument.around(ends))
    reserved = options.reply_tokens + loaded.room_to_think
    notes = yield from _notes(options, context, opened)
    retrieve = notes.passages if notes else no_notes
    window = Window(loaded, options.system or system_prompt(loaded.parameters), reserved, retrieve)
    yield StageStatus(stage="llm", message="reading the system prompt", progress=0.9)
    opening = window.tokens((), "")
    prefill(loaded.model, opening)
    yield from distance.tried(options, loaded, window)
    costs = instrument.costs if options.policy and loaded.abilities.verifies == "exact" else None
    if sources.costs is None and costs is not None:
        _measure(options, sources, engine, opening, instrument)
    decodes = options.decoding.for_model(loaded.parameters, loaded.abilities, instrument.costs)
    decoding = assemble(decodes, loaded, chosen, instrument, context.stale, sources.load_draft)
    opened.callback(decoding.close)
    verifier = make_verifier(options.verifier, loaded, chosen, costs)
    guesses = options.continuations and options.continuations + 1
    speculator = Speculator(
        *(loaded, decoding.decoder, verifier, options.reply_tokens, options.memory, guesses), watch=ends.watch
    )
    lookahead = LookAhead(
        *(loaded, window, speculator, options.continuations),
        *(options.candidate_tokens, options.guesses if loaded.abilities.tokenises else "user", options.clause),
        now=context.clock.now,
    )
    report = DecoderReport(decodes.title, decoding.decoder, loaded.tokenizer.decode)
    yield from _ready(engine)
    spending = Spending(loaded, options.remote_budget)
    return SpeculationParts(
        *(options, loaded, window, plain, chosen, decoding, costs, speculator, lookahead, report, spending, distance),
        *(ends, notes),
    )


def prefill(model: LanguageModel, opening: Sequence[int]) -> None:
    """Evaluate what stands before the user's words, so that the first of them cost no more than themselves; where a
    model tells text alone, nobody can ask for that. Raises PredtuiError for a model that computes no numbers."""
    with suppress(Preempted):
        if model.abilities.tokenises and not model.forward(opening).finite:
            raise numberless()


def _measure(
    options: SpeculationOptions, sources: Sources, loaded: LoadedModel, opening: Sequence[int], instrument: Instrument
) -> None:
    if not sources.remembered or loaded.abilities.generates:
        measure(loaded.model, opening, instrument)
        return
    name = f"{_described(loaded)} {options.model} {options.threads} {options.weights}"
    if options.placement != USUAL:
        name += f" {options.placement}"
    recall(loaded.model, opening, instrument, name)


def _notes(
    options: SpeculationOptions, context: StageContext, opened: ExitStack
) -> Generator[Event, None, Notes | None]:
    """Read, where there are to be any."""
    if not options.notes:
        return None
    from predtui.predgen.notes.notes import Notes

    yield StageStatus(stage="llm", message="reading the notes", progress=0.88)
    notes = Notes(options.notes, context.clock.now)
    opened.callback(notes.close)
    yield from notes.look()
    return notes


def _ready(loaded: LoadedModel) -> Iterator[Event]:
    if isinstance(loaded.template, PlainTemplate):
        text = f"{loaded.name} has no chat template: it goes on with a dialogue. A chat model answers better."
        yield Notice(text=text, severity="warning")
    if isinstance(loaded.template, JinjaTemplate) and loaded.template.notes:
        yield Notice(text=f"The chat template of {loaded.name} {' and '.join(loaded.template.notes)}.")
    if loaded.abilities.rollback == "none" and not loaded.abilities.generates:
        text = f"{loaded.name} cannot go back in what it has read, and reads all of it anew at every word."
        yield Notice(text=f"{text} llama.cpp can, in part, with its GGUF file.", severity="warning")
    yield StageStatus(stage="llm", message=_described(loaded), progress=1.0)


def _described(loaded: LoadedModel) -> str:
    """Name, size, engine and device, for the header of the screen."""
    millions = loaded.parameters / 1e6
    size = f"{millions / 1000:.1f}B" if millions >= 1000 else f"{millions:.1f}M"
    sized = [size] if loaded.parameters or not loaded.abilities.generates else []
    return " · ".join((loaded.name, *sized, loaded.engine, loaded.device))
