"""What input-time speculation works with, put together out of its options, with a line for a person at each step.

Must not know of turns, or of what is done with the parts.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace

from predtui.decoding.assembly import Assembly, assemble
from predtui.decoding.base import Sampler
from predtui.decoding.costs.curve import Curve
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.measured import measure, recall
from predtui.decoding.sampler import independent, sampler
from predtui.errors import PredtuiError
from predtui.llm.base import LanguageModel, LoadedModel, ModelRequest, Preempted
from predtui.llm.halt import Halt
from predtui.llm.load import Loader, preparing
from predtui.llm.templates import PlainTemplate
from predtui.predgen.algorithm import Speculator
from predtui.predgen.lookahead.lookahead import LookAhead
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.prompts import system_prompt
from predtui.predgen.revision import DecoderReport
from predtui.predgen.verifiers import CandidateVerifier, make_verifier
from predtui.predgen.window import Window
from predtui.state.events import Event, Notice, StageStatus
from predtui.state.stage import StageContext


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

    def verifier(self, name: str) -> CandidateVerifier:
        """Raises PredtuiError for a name that is none."""
        return make_verifier(name, self.loaded, self.sampler, self.costs)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where models come from, and what is known of their ``costs`` (None: they are measured when the model is opened,
    or, where they are ``remembered``, when it is first opened on a machine)."""

    load: Loader
    load_draft: Loader
    costs: Curve | None
    remembered: bool


def assembled(
    options: SpeculationOptions, sources: Sources, context: StageContext, halt: Halt, opened: ExitStack
) -> Generator[Event, None, SpeculationParts]:
    """The parts; what takes a while is announced. ``opened`` is to close what was opened, however far this comes.
    Raises PredtuiError."""
    request = ModelRequest(options.model, options.threads or None, options.context, halt, options.weights)
    for message, progress in preparing(options.engine, request):
        yield StageStatus(stage="llm", message=message, progress=progress)
    plain = sampler(options.temperature, options.top_k, options.top_p, options.min_p, options.seed)
    chosen = plain if options.position_seeded else independent(plain)
    engine = sources.load(options.model, options.engine, options.threads or None, options.context, halt)
    opened.callback(engine.model.close)
    instrument = Instrument(context.clock, sources.costs)
    loaded = replace(engine, model=instrument.around(engine.model))
    window = Window(loaded, options.system or system_prompt(loaded.parameters), options.reply_tokens)
    decodes = options.decoding.for_model(loaded.parameters)
    decoding = assemble(decodes, loaded, chosen, instrument, context.stale, sources.load_draft)
    opened.callback(decoding.close)
    yield StageStatus(stage="llm", message="reading the system prompt", progress=0.9)
    opening = window.tokens((), "")
    prefill(loaded.model, opening)
    if sources.costs is None and options.policy:
        _measure(options, sources, engine, opening, instrument)
    costs = instrument.costs if options.policy else None
    verifier = make_verifier(options.verifier, loaded, chosen, costs)
    guesses = options.continuations and options.continuations + 1
    speculator = Speculator(loaded, decoding.decoder, verifier, options.reply_tokens, options.memory, guesses)
    lookahead = LookAhead(
        *(loaded, window, speculator, options.continuations),
        *(options.candidate_tokens, options.guesses, options.clause),
    )
    report = DecoderReport(decodes.title, decoding.decoder)
    yield from _ready(loaded)
    return SpeculationParts(options, loaded, window, plain, chosen, decoding, costs, speculator, lookahead, report)


def prefill(model: LanguageModel, opening: Sequence[int]) -> None:
    """Evaluate what stands before the user's words, so that the first of them cost no more than themselves. Raises
    PredtuiError for a model that computes no numbers."""
    with suppress(Preempted):
        if not model.forward(opening).finite:
            raise PredtuiError("The model computes no numbers: its weights are damaged.", "Fetch it again.")


def _measure(
    options: SpeculationOptions, sources: Sources, loaded: LoadedModel, opening: Sequence[int], instrument: Instrument
) -> None:
    if not sources.remembered:
        measure(loaded.model, opening, instrument)
        return
    name = f"{_described(loaded)} {options.model} {options.threads} {options.weights}"
    recall(loaded.model, opening, instrument, name)


def _ready(loaded: LoadedModel) -> Iterator[Event]:
    if isinstance(loaded.template, PlainTemplate):
        text = f"{loaded.name} has no chat template: it may ramble. A chat model answers better."
        yield Notice(text=text, severity="warning")
    yield StageStatus(stage="llm", message=_described(loaded), progress=1.0)


def _described(loaded: LoadedModel) -> str:
    """Name, size, engine and device, for the header of the screen."""
    millions = loaded.parameters / 1e6
    size = f"{millions / 1000:.1f}B" if millions >= 1000 else f"{millions:.1f}M"
    return f"{loaded.name} · {size} · {loaded.engine} · {loaded.device}"
