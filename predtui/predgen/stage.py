"""The "llm" stage: partial prompts in, candidates, verdicts and a verified reply out.

Owns the model and the candidate. Must not know of sound, of queues, or of the screen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial

from predtui.decoding.assembly import assemble
from predtui.decoding.base import DecodingStatistics
from predtui.decoding.costs.curve import Curve
from predtui.decoding.costs.measured import measured, observed, remembered
from predtui.decoding.sampler import independent, sampler
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, ModelRequest, Preempted, common_prefix, leave, never
from predtui.llm.halt import Halt
from predtui.llm.load import Loader, load, preparing
from predtui.llm.templates import PlainTemplate
from predtui.predgen.algorithm import Progress, Speculator
from predtui.predgen.baseline import measure
from predtui.predgen.lookahead.gate import LookaheadGate
from predtui.predgen.lookahead.lookahead import LookAhead, Steps
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.prompts import system_prompt
from predtui.predgen.revision import Revision
from predtui.predgen.verifiers import CandidateVerifier, make_verifier
from predtui.predgen.window import Window
from predtui.settings import LlmSettings
from predtui.state.events import (
    Configure,
    Decoding,
    Event,
    Interrupt,
    MeasureBaseline,
    Message,
    Notice,
    ReplyFinished,
    SentenceAhead,
    StageStatus,
    Transcript,
    TurnStarted,
    Work,
)
from predtui.state.stage import StageContext


def create(options: SpeculationOptions) -> SpeculationStage:
    loader = partial(load, weights=options.weights)
    return SpeculationStage(options, loader, draft_loader=loader, remembers=True)


def from_settings(settings: LlmSettings) -> SpeculationStage:
    return create(SpeculationOptions.of(settings))


class SpeculationStage:
    """Input-time speculation as a stage. Stops between forwards when its work is stale, keeps every token, and tells
    nothing more of a revision that was pre-empted."""

    accepts: tuple[type[Event], ...] = (TurnStarted, Transcript, Interrupt, Configure, MeasureBaseline)
    tick: float | None = None

    def __init__(
        self,
        options: SpeculationOptions,
        loader: Loader = load,
        costs: Curve | None = None,
        draft_loader: Loader = load,
        remembers: bool = False,
    ) -> None:
        """``costs``: seconds of a forward by the tokens it evaluates; None: measured when the model is opened, or,
        where the stage ``remembers``, when it is first opened on a machine."""
        self._options = options
        self._load, self._load_draft = loader, draft_loader
        self._costs, self._remembers = costs, remembers
        self._verifier = options.verifier
        self._opened = ExitStack()
        """Closes what ``open`` has opened, however far it came."""
        self._history: tuple[Message, ...] = ()
        self._ahead = ""
        self._unfinished: tuple[Revision, Progress] | None = None
        """A final revision whose reply is still being generated."""
        self._reply: tuple[str, tuple[int, ...]] = ("", ())
        """The last final prompt with the tokens of its reply."""
        self._heard = Transcript()
        self._spoken = self._listening = False
        """Whether the turn is, and whether a recogniser is at work on it, for which a core is left."""
        self._work: Steps | None = None
        """What is left to do while nothing waits."""
        self._looked = False
        """Whether there was such work since the last prompt."""
        self._payoff = LookaheadGate()
        self._halt = Halt()
        """Set while nothing that is being computed can matter any more: a forward under way ends at once."""
        self._urgent = Event()
        """The last event that set it."""
        self._came: tuple[Event, float] = Event(), 0.0
        """The last event that came, and when."""
        self._answering = ""
        """The prompt that has come last."""

    def open(self, context: StageContext) -> Iterator[Event]:
        self._context = context
        context.watch(self._arrived)
        options = self._options
        request = ModelRequest(options.model, options.threads or None, options.context, self._halt, options.weights)
        for message, progress in preparing(options.engine, request):
            yield StageStatus(stage="llm", message=message, progress=progress)
        self._plain = sampler(options.temperature, options.top_k, options.top_p, options.min_p, options.seed)
        self._sampler = self._plain if options.position_seeded else independent(self._plain)
        self._loaded = self._load(options.model, options.engine, options.threads or None, options.context, self._halt)
        self._opened.callback(self._loaded.model.close)
        self._window = Window(
            self._loaded, options.system or system_prompt(self._loaded.parameters), options.reply_tokens
        )
        self._decodes = options.decoding.for_model(self._loaded.parameters)
        self._decoding = assemble(
            self._decodes, self._loaded, self._sampler, context.clock, context.stale, self._load_draft
        )
        self._opened.callback(self._decoding.close)
        self._told = DecodingStatistics()
        yield StageStatus(stage="llm", message="reading the system prompt", progress=0.9)
        self._prefill()
        if self._costs is None and options.policy:
            self._costs = self._measured()
        self._speculator = Speculator(
            self._loaded,
            self._decoding.decoder,
            self._make_verifier(),
            options.reply_tokens,
            options.memory,
            continuations=options.continuations and options.continuations + 1,
        )
        self._lookahead = LookAhead(
            self._loaded,
            self._window,
            self._speculator,
            options.continuations,
            options.candidate_tokens,
            options.guesses,
            options.clause,
            self._risk,
        )
        if isinstance(self._loaded.template, PlainTemplate):
            text = f"{self._loaded.name} has no chat template: it may ramble. A chat model answers better."
            yield Notice(text=text, severity="warning")
        yield StageStatus(stage="llm", message=_described(self._loaded), progress=1.0)

    def handle(self, event: Event) -> Iterator[Event]:
        if event.generation >= self._urgent.generation:
            self._halt.clear()
        try:
            if isinstance(event, TurnStarted):
                self._start(event)
            elif isinstance(event, Transcript):
                yield from self._transcript(event)
            elif isinstance(event, Interrupt):
                yield from self._interrupt()
            elif isinstance(event, Configure):
                yield from self._configure(event)
            elif isinstance(event, MeasureBaseline):
                yield from self._baseline(event)
        except Preempted:
            self._context.log.debug("%s was pre-empted between chunks", type(event).__name__)

    def idle(self) -> Iterator[Event]:
        """A forward for what may come."""
        with suppress(Preempted):
            for step in self._work or ():
                if isinstance(step, SentenceAhead):
                    if step.text == self._ahead:
                        continue
                    self._ahead = step.text
                if step is not None and not self._context.stale():
                    yield step
                return
        self._rest()

    def close(self) -> None:
        self._opened.close()

    def _arrived(self, event: Event) -> None:
        """Whatever is computed for another prompt than the final one, for a turn that is over or a reply that is no
        longer wanted, is not waited for. Called while ``handle`` or ``idle`` are at work."""
        self._came = event, self._context.clock.now()
        if isinstance(event, Transcript):
            answering = self._answering if self._work is None else self._lookahead.answering
            overtakes = event.final and event.prompt != answering
        else:
            overtakes = isinstance(event, TurnStarted | Interrupt)
        if overtakes and self._options.preempts:
            self._urgent = event
            self._halt.set()

    def _make_verifier(self, name: str = "") -> CandidateVerifier:
        costs = self._costs if self._options.policy else None
        return make_verifier(name or self._verifier, self._loaded, self._sampler, costs)

    def _start(self, event: TurnStarted) -> None:
        self._rest()
        self._spoken = event.source != "typed"
        self._listen(self._spoken)
        self._history = event.history
        self._heard = Transcript()
        self._ahead = ""
        self._unfinished = None
        self._speculator.reset()
        self._prefill()

    def _measured(self) -> Curve:
        loaded, options, clock = self._loaded, self._options, self._context.clock
        if not self._remembers:
            return measured(loaded.model, self._opening, clock)
        name = f"{_described(loaded)} {options.model} {options.threads} {options.weights}"
        return remembered(loaded.model, self._opening, clock, name)

    def _listen(self, listening: bool) -> None:
        if listening != self._listening:
            self._listening = listening
            leave(self._loaded.model, 1 if listening else -1)

    def _prefill(self) -> None:
        """Evaluate what stands before the user's words, so that the first of them cost no more than themselves."""
        self._opening = self._window.tokens(self._history, "")
        with suppress(Preempted):
            if not self._loaded.model.forward(self._opening).finite:
                raise PredtuiError("The model computes no numbers: its weights are damaged.", "Fetch it again.")

    def _transcript(self, event: Transcript) -> Iterator[Event]:
        last, self._heard = self._heard, event
        self._rest()
        self._listen(self._spoken and event.unfinished and not event.final)
        if event.prompt and event.changes(last):
            yield from self._speculate(event)
        elif event.final:
            yield ReplyFinished(verifier=self._verifier)
        pays = self._payoff.pays or not self._options.policy
        open_ended = event.text and not event.final and not event.settling
        if open_ended and self._options.continuations and pays:
            self._work, self._looked = self._lookahead.work(self._history, event, self._context.stale), True
            self.tick = 0.0

    def _rest(self) -> None:
        self._work = self.tick = None

    def _speculate(self, heard: Transcript) -> Iterator[Event]:
        """One round of Algorithm 1; after the final prompt, the whole reply."""
        prompt, final = heard.prompt, heard.final
        self._answering = prompt
        revision = self._revision(prompt, final)
        self._unfinished = (revision, Progress((), (), (), False, True)) if final else None
        progress: Progress | None = None
        stale = self._context.stale if self._options.preempts or final else never
        tokens = self._window.tokens(self._history, prompt)
        self._payoff.observe(self._looked, len(self._speculator.held(tokens)))
        spare = self._spare(heard, tokens)
        self._looked = False
        for progress in self._timed(self._speculator.advance(tokens, stale, spare=spare)):
            if stale():
                return
            if final:
                self._unfinished = (revision, progress)
                self._reply = (prompt, progress.tokens)
            yield from revision.tell(progress)
            yield from self._decoded()
            self._ahead = revision.ahead
            if not final and not progress.verifying and self._enough(revision, progress):
                break
        if progress is not None and not stale():
            self._unfinished = None
            yield from revision.finish(progress)
        yield from self._decoded(over=True)

    def _timed(self, steps: Iterator[Progress]) -> Iterator[Progress]:
        """``steps``, whose forwards tell what forwards cost by now."""
        if self._costs is None:
            return steps
        return observed(steps, self._loaded.model, self._context.clock, self._costs)

    def _spare(self, heard: Transcript, prompt: Sequence[int]) -> float:
        """Seconds that the verification for ``prompt`` may lose: as many as it likes, while more is to come; what
        ``_risk`` says where it seems to be all; and at the end that less what other work has delayed it by, but a
        forward at least: what no token may be lost on verifies none."""
        if heard.final:
            event, came = self._came
            late = self._context.clock.now() - came if event is heard else 0.0
            least = 0.0 if self._costs is None else self._costs.seconds(1)
            return max(self._risk(prompt) - late, least)
        return self._risk(prompt) if heard.paused else math.inf

    def _risk(self, prompt: Sequence[int]) -> float:
        """Seconds that may be lost on ``prompt``, were it final now, so that its reply is no later, by more than a
        forward, than that of one who begins to read it then."""
        if self._costs is None:
            return math.inf
        known = common_prefix(prompt, self._opening)
        read = max(known, (self._lookahead if self._looked else self._speculator).read(prompt))
        saved = self._costs.seconds(len(prompt) - known) - self._costs.seconds(len(prompt) - read)
        return saved + self._costs.seconds(1)

    def _decoded(self, over: bool = False) -> Iterator[Event]:
        """What the decoder has drafted since it was last told, where it drafts, once a forward at most; and when its
        target and its draft were at work, the rest of it once the revision is ``over``."""
        now, told = self._decoding.decoder.statistics, self._told
        for span in now.work.take(over):
            yield Work(stage=span.worker, start=span.start, end=span.end)
        if now.proposed != told.proposed or now.note != told.note:
            yield Decoding(
                decoder=self._decodes.title,
                proposed=now.last[0],
                accepted=now.last[1],
                acceptance_rate=now.acceptance_rate,
                tokens_per_forward=now.tokens_per_forward,
                note=now.note,
            )
            self._told = replace(now)

    def _revision(self, prompt: str, final: bool) -> Revision:
        now, counters = self._context.clock.now, self._loaded.model.counters
        start, forwards = now(), counters.forwards
        return Revision(
            prompt,
            self._loaded.tokenizer,
            self._verifier,
            elapsed_ms=lambda: (now() - start) * 1000,
            forwards=lambda: counters.forwards - forwards,
            ahead=self._ahead,
            final=final,
            clause=self._options.clause,
        )

    def _enough(self, revision: Revision, progress: Progress) -> bool:
        """Whether the candidate need not grow before the input does."""
        if rounds := self._options.rounds:
            begins = not progress.kept and not progress.rejected
            return rounds.ends(len(progress.new), begins) and self._context.stale()
        length, sentence = len(progress.tokens), revision.sentence_tokens
        beyond = sentence and length >= sentence + self._options.beyond_sentence
        return bool(beyond) or length >= self._options.candidate_tokens

    def _interrupt(self) -> Iterator[Event]:
        """A reply that was still being generated ends with what is committed of it."""
        self._listen(False)
        if self._unfinished is not None:
            revision, progress = self._unfinished
            self._unfinished = None
            yield revision.reply(progress, interrupted=True)

    def _configure(self, event: Configure) -> Iterator[Event]:
        if not event.verifier:
            return
        try:
            self._speculator.verify_by(self._make_verifier(event.verifier))
            self._verifier = event.verifier
        except PredtuiError as error:
            yield Notice(text=str(error), severity="error")

    def _baseline(self, event: MeasureBaseline) -> Iterator[Event]:
        prompt, reply = self._reply
        if prompt != event.prompt or not self._says(reply, event.reply):
            reply = tuple(self._loaded.tokenizer.encode(event.reply))
        result = measure(
            self._loaded,
            self._plain,
            self._window,
            event.history,
            event.prompt,
            reply,
            self._options.reply_tokens,
            self._context.clock,
            self._context.stale,
        )
        if result is not None:
            yield result

    def _says(self, tokens: tuple[int, ...], text: str) -> bool:
        return self._loaded.tokenizer.decode(tokens).strip().startswith(text)


def _described(loaded: LoadedModel) -> str:
    """Name, size, engine and device, for the header of the screen."""
    millions = loaded.parameters / 1e6
    size = f"{millions / 1000:.1f}B" if millions >= 1000 else f"{millions:.1f}M"
    return f"{loaded.name} · {size} · {loaded.engine} · {loaded.device}"
