"""A decoder out of names: loads what its entry in the registry needs, and refuses, with the reason, what cannot be had.

Must not know of settings, of stages, or of any one decoder or drafter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from predtui.clock import RealClock
from predtui.decoding.base import WIDEST, Decoder, Drafter, Sampler
from predtui.decoding.costs.curve import Curve
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.drafters.bridge import same_tokens
from predtui.decoding.memory import MB, REMEDY, Allowance
from predtui.decoding.parts import Learns, Parts
from predtui.errors import PredtuiError
from predtui.files import resolve
from predtui.llm.abilities import Abilities
from predtui.llm.base import AskingTokenizer, LoadedModel, SpellingTokenizer, Stale, never
from predtui.llm.load import DraftLoader, load
from predtui.models.shipped import MODELS, POCKET_DRAFT
from predtui.models.trained import trained_for
from predtui.registry import DECODERS, DRAFTERS, NEEDS, Entry, Registry

AUTO = "auto"
DEAR = 50_000_000
"""Parameters of a network whose forward takes so long that a draft is worth trying."""
FLAT = 1.5
"""So many times one over one token a forward over ``WIDEST`` of them may take for many drafts to be worth verifying."""
REMEDIES = {
    "drafter": "Name one with --drafter.",
    "draft": "Name one with --draft.",
    "soft": "Use --engine torch, with a folder, or choose another --drafter.",
}
"""What to do about a need that is not met; for others, choosing something else is all there is."""
SMALLER_DRAFT = "a smaller draft with --draft, or another --decoder"
"""What to choose where a draft has no room."""


@dataclass(frozen=True, slots=True)
class DecodingOptions:
    """``decoder``: one of ``DECODERS``, or ``auto``, of which ``for_model`` makes one. ``drafter`` and ``draft`` (a
    model's name or path) count where the decoder drafts; ``datastore`` is the folder that retrieval reads, empty for
    the one that ``predtui train rest`` writes by default; ``heads`` that of trained heads, empty for those that ship;
    ``memory``: MB that drafting may hold, 0 for any number; ``learnt``: the folder in which a draft that goes on
    learning keeps that, empty where it does not learn; ``trained``: the folder of what was trained for models, empty
    for none."""

    decoder: str = "ar"
    drafter: str = "model"
    draft: str = POCKET_DRAFT
    datastore: str = ""
    memory: int = 0
    heads: str = ""
    learnt: str = ""
    trained: str = ""

    def of(self, model: str) -> DecodingOptions:
        """With the heads and the draft that were trained for ``model``, where no others are named."""
        if not self.trained:
            return self
        heads, draft = (trained_for(model, kind, Path(self.trained)) for kind in ("heads", "draft"))
        chosen = self.draft != POCKET_DRAFT or model in MODELS or not draft.is_dir()
        return replace(
            self,
            heads=self.heads or (str(heads) if heads.is_dir() else ""),
            draft=self.draft if chosen else str(draft),
        )

    def for_model(self, parameters: int, can: Abilities, costs: Curve | None = None) -> DecodingOptions:
        """``auto``: whatever drafter pays, where a forward over many tokens takes little longer than one over one, as
        on a GPU. Elsewhere drafts that cost nothing, copied from what was said before, if a forward costs enough for
        them, and a rejected one does not cost more than it. ``costs``: seconds of a forward by the tokens that it
        evaluates, as far as they are known."""
        if self.decoder != AUTO:
            return self
        if can.verifies != "exact" or can.rollback == "none" or can.generates:
            return replace(self, decoder="ar")
        if costs and 1 in costs and can.trees and costs.seconds(WIDEST) <= FLAT * costs.seconds(1):
            return replace(self, decoder="speculative", drafter=AUTO)
        if parameters >= DEAR:
            return replace(self, decoder="speculative", drafter="suffix")
        return replace(self, decoder="ar")

    @property
    def needs(self) -> frozenset[str]:
        """What the decoder needs, and its drafter where it takes one. Raises PredtuiError for a name that is not
        known."""
        needs = DECODERS.find(self.decoder).needs
        return needs | DRAFTERS.find(self.drafter).needs if "drafter" in needs else needs

    @property
    def takes(self) -> frozenset[str]:
        """What the drafter does without where it is not there. Raises PredtuiError as ``needs``."""
        return DRAFTERS.find(self.drafter).takes - self.needs if "drafter" in self.needs else frozenset()

    @property
    def draft_caches(self) -> int:
        """How many the decoder opens over its draft model. Raises PredtuiError as ``needs``."""
        return DECODERS.find(self.decoder).caches

    @property
    def title(self) -> str:
        return f"{self.decoder} + {self.drafter}" if "drafter" in self.needs else self.decoder


@dataclass(frozen=True, slots=True)
class Assembly:
    """A decoder with the draft model that was loaded for it, and what of it learns."""

    decoder: Decoder
    draft: LoadedModel | None
    learners: Sequence[Learns] = ()

    def learn(self, stale: Stale) -> bool:
        """A piece of work for idle time, none where it is ``stale``; whether any is left."""
        return any(learner.learn(stale) for learner in self.learners)

    def notes(self) -> list[str]:
        """What is to be told of that, once."""
        told = [line for learner in self.learners for line in learner.notes]
        for learner in self.learners:
            learner.notes.clear()
        return told

    def close(self) -> None:
        for learner in self.learners:
            learner.close()
        self.decoder.close()
        if self.draft is not None:
            self.draft.model.close()


def assemble(
    options: DecodingOptions,
    target: LoadedModel,
    sampler: Sampler,
    instrument: Instrument | None = None,
    stale: Stale = never,
    loader: DraftLoader = load,
) -> Assembly:
    """``options`` as ``for_model`` gives them; ``instrument``: what measures the target's forwards; ``stale`` as in
    ``load``. Raises PredtuiError for a name that is not known, a need that is not met, a sampler that needs more than
    the target tells, or a draft that cannot be loaded."""
    target.require("Sampling at a temperature", whole=sampler.whole)
    options = options.of(target.name)
    memory = Allowance(options.memory * MB if options.memory else None)
    draft = _draft(options, target, sampler, stale, loader, memory)
    store = resolve(options.datastore) if options.datastore else None
    heads = resolve(options.heads) if options.heads else None
    measuring = instrument or Instrument(RealClock())
    parts = Parts(
        *(target, sampler, draft, store, heads),
        memory=memory,
        instrument=measuring,
        learns=bool(options.learnt),
        learnt=Path(options.learnt) if options.learnt else None,
    )
    try:
        return Assembly(make_decoder(options.decoder, parts, options.drafter), draft, parts.learners)
    except PredtuiError:
        if draft:
            draft.model.close()
        raise


def make_decoder(name: str, parts: Parts, drafter: str = "") -> Decoder:
    """The decoder ``name``, with the drafter of that name where it takes one. Raises PredtuiError as ``assemble``."""
    if drafter and "drafter" in DECODERS.find(name).needs:
        parts = replace(parts, drafter=make_drafter(drafter, parts))
    return cast(Decoder, _made(DECODERS, name, parts))


def make_drafter(name: str, parts: Parts) -> Drafter:
    """Raises PredtuiError as ``assemble``."""
    return cast(Drafter, _made(DRAFTERS, name, parts))


def _made(registry: Registry, name: str, parts: Parts) -> object:
    _refuse(registry.kind, registry.find(name), parts)
    return registry.factory(name)(parts)


def _refuse(kind: str, entry: Entry, parts: Parts) -> None:
    """Raises PredtuiError where ``parts`` lack what the entry needs; what is wrong with a datastore or with heads, they
    say themselves."""
    can = parts.target.abilities
    met: dict[str, object] = {"drafter": parts.drafter, "draft": parts.draft, "trees": can.trees}
    met |= {"rows": can.whole, "given": can.verifies == "exact", "windows": can.windows}
    met |= {"hidden": can.hidden > 0, "layers": can.layers > 0, "soft": can.soft}
    for need in sorted(entry.needs & met.keys()):
        if not met[need]:
            which = "" if need in REMEDIES else f", which {parts.target.engine} is not"
            remedy = REMEDIES.get(need, f"Choose another --{kind}.")
            raise PredtuiError(f"The {kind} {entry.name} needs {NEEDS[need]}{which}.", remedy)


def _meet(target: LoadedModel, draft: LoadedModel) -> None:
    """Where the target is behind a network, what its tokens spell is asked of the draft. Raises PredtuiError for one
    with other tokens: those of each draft would have to be asked for."""
    if not target.abilities.generates or target.abilities.verifies != "exact":
        return
    if not same_tokens(target, draft):
        raise PredtuiError(
            f"{draft.name} cannot draft for {target.name} at {target.device}: their vocabularies differ.",
            "Choose another of the same family with --draft.",
        )
    if isinstance(target.tokenizer, AskingTokenizer) and isinstance(draft.tokenizer, SpellingTokenizer):
        target.tokenizer.borrow(draft.tokenizer, draft.model.vocab_size)


def _draft(
    options: DecodingOptions,
    target: LoadedModel,
    sampler: Sampler,
    stale: Stale,
    loader: DraftLoader,
    memory: Allowance,
) -> LoadedModel | None:
    """The one that the decoder needs, or takes and can have; it can draft for the target."""
    if "draft" not in options.needs | options.takes:
        return None
    try:
        return _fitting(_loaded(options, target, stale, loader, memory), target, sampler, memory)
    except PredtuiError:
        if "draft" in options.needs:
            raise
        return None


def _fitting(draft: LoadedModel, target: LoadedModel, sampler: Sampler, memory: Allowance) -> LoadedModel:
    """``draft``, closed where it raises PredtuiError."""
    try:
        draft.require("A draft at a temperature", whole=sampler.whole)
        _meet(target, draft)
        memory.fixed(f"The draft model {draft.name}", draft.footprint)
    except PredtuiError:
        draft.model.close()
        raise
    return draft


def _loaded(
    options: DecodingOptions, target: LoadedModel, stale: Stale, loader: DraftLoader, memory: Allowance
) -> LoadedModel:
    """A GGUF file in llama.cpp; a folder without one in the target's engine if that is torch, else in numpy."""
    draft, engine = options.draft, "llamacpp"
    folder = None if draft in MODELS else resolve(draft)
    if folder and (folder / "model.gguf").is_file():
        draft = str(folder / "model.gguf")
    elif folder and (folder / "config.json").is_file():
        engine = "torch" if target.engine == "torch" else "numpy"
    try:
        return loader(draft, engine, None, 0, stale, options.draft_caches, memory.left)
    except PredtuiError as error:
        theirs = "--llm-" in error.remedy  # of the target: the draft is held as is usual
        remedy = f"Choose {SMALLER_DRAFT}." if theirs else error.remedy.replace("--model", "--draft") or REMEDY
        raise PredtuiError(f"The draft model: {error.message}", remedy) from error
