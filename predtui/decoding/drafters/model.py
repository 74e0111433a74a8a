"""A smaller language model as the drafter. It speaks the target's tokens. Must not know of verification."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from predtui.decoding.base import Drafter, Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.bridge import BridgedDrafter, same_tokens
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LanguageModel
from predtui.llm.rows import Row

UNSURE, FAR_UNSURE = 0.5, 0.1
"""A greedy draft stops where the draft model thinks it less likely than this that all of it is accepted; where the
target is behind a network, a request costs so much that a long shot is worth another token."""


class ModelDrafter:
    """Decodes the draft autoregressively with the target's own sampler. Its noise is that of the position: a
    sampled draft is both a fair draw for speculative sampling and likely to be what the target itself will choose."""

    def __init__(
        self,
        model: LanguageModel,
        sampler: Sampler,
        is_end: Callable[[int], bool],
        unsure: float = UNSURE,
        source: str = "model",
    ) -> None:
        """``is_end``: after which tokens a reply, and so a draft, has ended. ``unsure``: as ``UNSURE``.
        ``source``: what its drafts are called."""
        self._model, self._sampler, self._is_end, self._unsure = model, sampler, is_end, unsure
        self._source = source
        self.after: Callable[[Sequence[int]], Row] = lambda sequence: model.forward(sequence)[-1]
        """What the draft says after a sequence."""

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        """Fewer than ``budget`` tokens where the draft is unsure, at an end, or its context is full."""
        sequence, start, chance = list(context), len(context), 1.0
        greedy, q, chances = isinstance(self._sampler, Greedy), [], []
        for index in range(min(budget, self._model.context_size - start + 1)):
            row = self.after(sequence)
            token = self._sampler.choose(row, position + index)
            if greedy:
                chance *= math.exp(row.logprob(token))
                if chance < self._unsure:
                    break
                chances.append(chance)
            else:
                q.append(self._sampler.probabilities(row))
            sequence.append(token)
            if self._is_end(token):
                break
        q_rows = np.stack(q) if q else None
        return Draft(tuple(sequence[start:]), q=q_rows, source=self._source, chances=tuple(chances))

    def observe(self, verification: Verification) -> None:
        """The model's memory follows the context by itself."""

    def reset(self) -> None:
        """The model's memory follows the context by itself."""


def alone(parts: Parts, source: str = "model") -> ModelDrafter:
    """Over a draft that speaks the target's tokens. ``source`` as ``ModelDrafter`` takes it."""
    draft = parts.needed_draft()
    unsure = FAR_UNSURE if parts.target.abilities.generates else UNSURE
    return ModelDrafter(draft.model, parts.sampler, draft.tokenizer.is_end, unsure, source)


def make(parts: Parts) -> Drafter:
    draft, drafter = parts.needed_draft(), alone(parts)
    same = same_tokens(parts.target, draft)
    return drafter if same else BridgedDrafter(parts.target.tokenizer, draft.tokenizer, drafter)
