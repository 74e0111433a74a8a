"""Every drafter by name. A new one is a module in this folder and a line in ``DRAFTERS``.

Must not know of verification, of stages, or of how models are loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from predtui.decoding import datastore
from predtui.decoding.base import Drafter, Sampler
from predtui.decoding.drafters.bridge import BridgedDrafter, same_tokens
from predtui.decoding.drafters.cascade import Cascade
from predtui.decoding.drafters.fused import Fused
from predtui.decoding.drafters.lookup import PromptLookup
from predtui.decoding.drafters.model import ModelDrafter
from predtui.decoding.drafters.recycling import TokenRecycling
from predtui.decoding.drafters.rest import Retrieval
from predtui.decoding.drafters.suffix import SuffixCopy
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, TreeModel


@dataclass(frozen=True, slots=True)
class DrafterParts:
    """What drafters are made of. ``draft`` is the smaller model, where there is one; ``datastore`` a folder that
    ``predtui train rest`` wrote, None for the one it writes by default."""

    target: LoadedModel
    sampler: Sampler
    draft: LoadedModel | None = None
    datastore: Path | None = None


DRAFTERS: dict[str, Callable[[DrafterParts], Drafter]] = {
    "lookup": lambda parts: PromptLookup(),
    "suffix": lambda parts: SuffixCopy(),
    "recycling": lambda parts: TokenRecycling(parts.target.model.vocab_size, _branching(parts)),
    "rest": lambda parts: Retrieval(_store(parts)),
    "model": lambda parts: _model(parts),
    "fused": lambda parts: Fused(SuffixCopy(), _model(parts), _branching(parts)),
    "cascade": lambda parts: _cascade(parts),
}
DRAFTERS_NEED_DRAFT = {"model", "fused", "cascade"}
"""Those that take a draft model."""


def make_drafter(name: str, parts: DrafterParts) -> Drafter:
    """Raises PredtuiError for a name that is not in ``DRAFTERS``."""
    if name not in DRAFTERS:
        raise PredtuiError(f"There is no drafter {name!r}.", f"Choose one of {', '.join(sorted(DRAFTERS))}.")
    return DRAFTERS[name](parts)


def _model(parts: DrafterParts) -> Drafter:
    draft = _draft(parts)
    if same_tokens(parts.target, draft):
        return ModelDrafter(draft.model, parts.sampler, draft.tokenizer.is_end)
    return BridgedDrafter(parts.target, draft, parts.sampler)


def _cascade(parts: DrafterParts) -> Drafter:
    draft = _draft(parts)
    if not same_tokens(parts.target, draft):
        raise PredtuiError(
            f"{draft.name} cannot be part of a cascade for {parts.target.name}: their vocabularies differ.",
            "Choose a draft of the same family, or --drafter model, which bridges them.",
        )
    return Cascade(_store(parts), draft.model, parts.sampler, draft.tokenizer.is_end)


def _draft(parts: DrafterParts) -> LoadedModel:
    if parts.draft is None:
        raise PredtuiError("This drafter needs a draft model.", "Name one with --draft.")
    return parts.draft


def _store(parts: DrafterParts) -> datastore.Datastore:
    return datastore.load(parts.datastore or datastore.default_folder(), parts.target)


def _branching(parts: DrafterParts) -> bool:
    return isinstance(parts.target.model, TreeModel)
