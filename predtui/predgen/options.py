"""The options of the "llm" stage. Must not know what is done about them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from predtui.decoding.assembly import DecodingOptions
from predtui.llm.default import language_model
from predtui.llm.llamacpp.repacking import AUTO
from predtui.llm.placement import USUAL, Placement
from predtui.models.shipped import POCKET
from predtui.settings import LlmSettings, learnt_folder, trained_folder


@dataclass(frozen=True, slots=True)
class Rounds:
    """Work in rounds, as PredGen's authors run it: input is looked at only where a round ends (PredGen, section 3).

    A turn begins with ``first`` new tokens. Each round after it brings the token of its verification and ``more``
    beyond it; while the input stands still, what a verification would let pass is taken as it is."""

    first: int = 30
    more: int = 10

    def ends(self, new: int, begins: bool) -> bool:
        """Whether a round ends with the ``new``-th token beyond what was accepted; ``begins``: of a turn's first
        prompt."""
        rest = new - self.first if begins else new
        return new > 0 and rest >= 0 and rest % (self.more + 1) == 0


@dataclass(frozen=True, slots=True)
class SpeculationOptions:
    """Limits are in tokens; ``threads`` and ``context`` 0 suit the model."""

    model: str = POCKET
    engine: str = "llamacpp"
    threads: int = 0
    context: int = 0
    weights: str = AUTO
    placement: Placement = USUAL
    verifier: str = "greedy"
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0
    decoding: DecodingOptions = field(default_factory=DecodingOptions)
    system: str = ""
    """The system prompt; empty: what suits the model's size."""
    notes: str = ""
    """The folder of notes to answer from; empty: none."""
    reply_tokens: int = 256
    thinking: str = "off"
    """How much a model that can think does before it answers ..."""
    thought_tokens: int = 1024
    """... and in how many tokens at most, beside those of its reply."""
    candidate_tokens: int = 64
    """A candidate grows no longer while input goes on ..."""
    beyond_sentence: int = 6
    """... or than so many tokens beyond its first sentence, which show that the sentence is over."""
    clause: bool = False
    """Whether the first clause of a reply is spoken before its first sentence is known."""
    memory: int = 4
    """Candidates kept, the present one included."""
    continuations: int = 2
    """Guesses of what the user is about to say, answered while nothing else is to be done; 0: none, nor the unfinished
    word."""
    guesses: str = "both"
    """Who makes them, one of ``lookahead.GUESSES``."""
    remote_budget: float = math.inf
    """Tokens that may be wasted for each that is spoken, where the engine is behind a network."""
    policy: bool = True
    """Whether the measured cost of a forward decides how much one verifies, and whether looking ahead goes on."""
    position_seeded: bool = True
    """Whether sampling at a position depends on nothing but seed and logits, so that what was verified is what plain
    sampling says; only a bench wants it otherwise."""
    preempts: bool = True
    """Whether new input stops the work on older input; a reply to the end of input is never waited for."""
    rounds: Rounds | None = None
    """A candidate grows in rounds while the input stands still, however long, and work that new input does not stop
    ends with a round. None: it grows as the limits above say."""

    @classmethod
    def of(cls, settings: LlmSettings) -> SpeculationOptions:
        return cls(
            model=language_model(settings.model, settings.engine, url=settings.url, folder=settings.folder),
            engine=settings.engine,
            threads=settings.threads,
            context=settings.context,
            weights=settings.weights,
            placement=Placement.of(settings),
            verifier=settings.verifier,
            temperature=settings.temperature,
            top_k=settings.top_k,
            top_p=settings.top_p,
            min_p=settings.min_p,
            seed=settings.seed,
            system=settings.system,
            notes=settings.notes,
            reply_tokens=settings.reply_tokens,
            thinking=settings.thinking,
            thought_tokens=settings.thought_tokens,
            clause=settings.clause,
            memory=settings.memory,
            continuations=settings.continuations,
            remote_budget=settings.remote_budget,
            decoding=DecodingOptions(
                settings.decoder,
                settings.drafter,
                settings.draft,
                settings.datastore,
                settings.draft_memory,
                settings.heads,
                str(learnt_folder()) if settings.learn else "",
                str(trained_folder()),
            ),
        )
