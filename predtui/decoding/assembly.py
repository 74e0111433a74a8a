"""A decoder out of names: loads the draft model where one is needed, and sees to it that both models' tokens agree.

Must not know of settings or of stages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from predtui.clock import Clock, RealClock
from predtui.decoding.base import Decoder, Drafter, Sampler
from predtui.decoding.decoders import DRAFTING, NEED_DRAFT, Parts, make_decoder
from predtui.decoding.drafters import DRAFTERS_NEED_DRAFT, DrafterParts, make_drafter
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, Stale, never
from predtui.llm.load import Loader, load
from predtui.models.shipped import POCKET_DRAFT

AUTO = "auto"
DEAR = 50_000_000
"""Parameters of a network whose forward takes so long that a draft is worth trying."""


@dataclass(frozen=True, slots=True)
class DecodingOptions:
    """``decoder``: one of ``DECODERS``, or ``auto``, of which ``for_model`` makes one. ``drafter`` and ``draft`` (a
    model's name or path) count where the decoder drafts; ``datastore`` is the folder that retrieval reads, empty for
    the one that ``predtui train rest`` writes by default."""

    decoder: str = "ar"
    drafter: str = "model"
    draft: str = POCKET_DRAFT
    datastore: str = ""

    def for_model(self, parameters: int) -> DecodingOptions:
        """``auto``: drafts that cost nothing, copied from what was said before, where a forward costs enough for
        them."""
        if self.decoder != AUTO:
            return self
        drafted = parameters >= DEAR
        return replace(self, decoder="speculative", drafter="suffix") if drafted else replace(self, decoder="ar")

    @property
    def drafts(self) -> bool:
        return self.decoder in DRAFTING

    @property
    def needs_draft(self) -> bool:
        """Whether a draft model is part of it."""
        return self.decoder in NEED_DRAFT or (self.drafts and self.drafter in DRAFTERS_NEED_DRAFT)

    @property
    def title(self) -> str:
        return f"{self.decoder} + {self.drafter}" if self.drafts else self.decoder


@dataclass(frozen=True, slots=True)
class Assembly:
    """A decoder with the draft model that was loaded for it."""

    decoder: Decoder
    draft: LoadedModel | None

    def close(self) -> None:
        self.decoder.close()
        if self.draft is not None:
            self.draft.model.close()


def assemble(
    options: DecodingOptions,
    target: LoadedModel,
    sampler: Sampler,
    clock: Clock | None = None,
    stale: Stale = never,
    loader: Loader = load,
) -> Assembly:
    """``options`` as ``for_model`` gives them. Raises PredtuiError for a name that is not known, or a draft that cannot
    be loaded, or a sampler that needs more than the target tells. ``stale`` as in ``load``."""
    if sampler.whole:
        target.require("Sampling at a temperature", whole=True)
    draft = _draft(options.draft, stale, loader) if options.needs_draft else None
    drafter: Drafter | None = None
    if options.drafts:
        store = Path(options.datastore).expanduser() if options.datastore else None
        drafter = make_drafter(options.drafter, DrafterParts(target, sampler, draft, store))
    return Assembly(make_decoder(options.decoder, Parts(target, sampler, drafter, draft, clock or RealClock())), draft)


def _draft(model: str, stale: Stale, loader: Loader) -> LoadedModel:
    try:
        return loader(model, "llamacpp", None, 0, stale)
    except PredtuiError as error:
        raise PredtuiError(f"The draft model: {error.message}", error.remedy.replace("--model", "--draft")) from error
