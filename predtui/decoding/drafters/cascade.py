"""A cascade of two sources (after Cascade Speculative Drafting, Chen et al. 2024): the cheap one where it is sure, the
dear one where it is not, token by token.

The corpus foretells a word's end or a set phrase for nothing; the draft model decides where phrases part. Must not
know of verification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from predtui.decoding.base import Draft, Sampler, Verification
from predtui.decoding.datastore import Datastore
from predtui.decoding.drafters.rest import foretold
from predtui.llm.base import LanguageModel

SURE = 0.75
"""A token of the corpus that is likelier than this needs no model."""
LIKELY = 0.4
"""A draft ends before a token that is kept with a chance below this: what follows it is mostly lost."""


class Cascade:
    """What it proposes counts as certain, which keeps speculative sampling exact whatever the sources."""

    def __init__(self, store: Datastore, model: LanguageModel, sampler: Sampler, is_end: Callable[[int], bool]) -> None:
        """``model`` speaks the target's tokens; ``is_end``: after which of them a draft has ended."""
        self._store, self._model, self._sampler, self._is_end = store, model, sampler, is_end

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        known, chances = list(context), [1.0]
        corpus = foretold(self._store, known)
        while len(chances) <= budget:
            token, chance = next(corpus, (-1, 0.0))
            if chance < SURE:
                if len(known) > self._model.context_size:
                    break
                token, chance = self._ask(known, position + len(chances) - 1)
                corpus = foretold(self._store, [*known, token])
            if chances[-1] * chance < LIKELY:
                break
            known.append(token)
            chances.append(chances[-1] * chance)
            if self._is_end(token):
                break
        return Draft(tuple(known[len(context) :]), source="cascade", chances=tuple(chances[1:]))

    def observe(self, verification: Verification) -> None:
        """The next context tells everything."""

    def reset(self) -> None:
        """Nothing is remembered but by the model, whose memory follows the context by itself."""

    def _ask(self, known: list[int], position: int) -> tuple[int, float]:
        """The model's choice after ``known``, and the probability that it gives it."""
        row = self._model.logits(known)[-1]
        token = self._sampler.choose(row, position)
        return token, 1 / float(np.exp(row - row[token]).sum())
