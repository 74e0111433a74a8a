"""Every way of decoding by name. A new one is a module beside this one and a line in ``DECODERS``.

Must not know of stages, of settings, or of how models are loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from predtui.clock import Clock, RealClock
from predtui.decoding.accept import Acceptance, ExactMatch, RejectionSampling
from predtui.decoding.autoregressive import Autoregressive
from predtui.decoding.base import WIDEST, Decoder, Drafter, Sampler
from predtui.decoding.drafters.bridge import same_tokens
from predtui.decoding.drafters.lookahead import Lookahead
from predtui.decoding.duo import Duo
from predtui.decoding.jacobi import Jacobi
from predtui.decoding.sampler import Greedy
from predtui.decoding.speculative import Speculative
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, TreeModel


@dataclass(frozen=True, slots=True)
class Parts:
    """What decoders are made of. ``draft`` is the model behind a drafter, for decoders that run it themselves."""

    target: LoadedModel
    sampler: Sampler
    drafter: Drafter | None = None
    draft: LoadedModel | None = None
    clock: Clock = field(default_factory=RealClock)


DECODERS: dict[str, Callable[[Parts], Decoder]] = {
    "ar": lambda parts: Autoregressive(parts.target.model, parts.sampler),
    "jacobi": lambda parts: Jacobi(parts.target.model, parts.sampler, fill=parts.target.pad),
    "duo": lambda parts: _duo(parts),
    "speculative": lambda parts: _speculative(parts, ExactMatch(parts.sampler)),
    "lookahead": lambda parts: _lookahead(parts),
    "sps": lambda parts: _speculative(parts, _rejection(parts.sampler)),
}
"""``speculative`` yields what ``ar`` yields, greedy or sampled; ``sps``, speculative sampling, does so when greedy, and
else draws from exactly the same distribution."""
DRAFTING = {"speculative", "sps"}
"""Those that take a drafter."""
NEED_DRAFT = {"duo"}
"""Those that take a draft model and run it themselves."""


def make_decoder(name: str, parts: Parts) -> Decoder:
    """Raises PredtuiError for a name that is not in ``DECODERS``."""
    if name not in DECODERS:
        raise PredtuiError(f"There is no decoder {name!r}.", f"Choose one of {', '.join(sorted(DECODERS))}.")
    return DECODERS[name](parts)


def _speculative(parts: Parts, acceptance: Acceptance) -> Speculative:
    if parts.drafter is None:
        raise PredtuiError("This decoder needs a drafter.", "Name one with --drafter.")
    return Speculative(parts.target.model, parts.sampler, parts.drafter, acceptance, parts.clock)


def _rejection(sampler: Sampler) -> Acceptance:
    """Where nothing is left to chance it keeps what ``ExactMatch`` keeps, which takes no distributions for that."""
    return ExactMatch(sampler) if isinstance(sampler, Greedy) else RejectionSampling(sampler)


def _lookahead(parts: Parts) -> Speculative:
    if not isinstance(parts.target.model, TreeModel):
        raise PredtuiError(
            f"Lookahead decoding needs token trees, and {parts.target.engine} evaluates none.",
            "Choose another --decoder.",
        )
    acceptance = ExactMatch(parts.sampler)
    return Speculative(parts.target.model, parts.sampler, Lookahead(), acceptance, parts.clock, first=WIDEST // 2)


def _duo(parts: Parts) -> Duo:
    if parts.draft is None:
        raise PredtuiError("This decoder needs a draft model.", "Name one with --llm-draft.")
    if not same_tokens(parts.target, parts.draft):
        raise PredtuiError(
            f"{parts.draft.name} cannot draft for {parts.target.name}: their vocabularies differ.",
            "Choose a draft of the same family, or --decoder speculative, which bridges them.",
        )
    return Duo(parts.target.model, parts.draft.model, parts.sampler, parts.clock)
