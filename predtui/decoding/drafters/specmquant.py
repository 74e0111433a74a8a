"""SpecMQuant (Zhang et al. 2025): a small model turns a draft that is a tree into one that is a sequence.

On a target with quantised weights a forward over a tree costs much more than one over a token, and most of a tree is
lost. So the tree is verified by the small model, to whom it is cheap, and the target gets the sequence that this one
settles on: what the small model itself would say, in fewer of its forwards. Where the abstract leaves a gap: the tree
is Token Recycling's, of what the small model thought likely before, in place of EAGLE-2's trained one; and a sequence
ends where the small model doubts, as that of ``model`` does. Must not know how the target verifies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from predtui.decoding.accept import ExactMatch, verify
from predtui.decoding.base import WIDEST, Drafter, Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters import recycling
from predtui.decoding.drafters.bridge import same_draft
from predtui.decoding.drafters.model import UNSURE
from predtui.decoding.drafters.recycling import CANDIDATES
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LanguageModel
from predtui.llm.rows import Row


class Settled:
    """What it proposes counts as certain, which keeps speculative sampling exact whatever the tree."""

    def __init__(
        self,
        model: LanguageModel,
        sampler: Sampler,
        is_end: Callable[[int], bool],
        trees: Drafter,
        source: str = "specmquant",
    ) -> None:
        """``model`` speaks the target's tokens; ``is_end``: after which of them a draft has ended; ``trees``: what
        drafts for the model; ``source``: what its drafts are called."""
        self._model, self._is_end, self._source = model, is_end, source
        self._trees = trees
        self._rule, self._greedy = ExactMatch(sampler), isinstance(sampler, Greedy)

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        """Fewer than ``budget`` tokens where the model is unsure, at an end, or its context is full."""
        tokens: list[int] = []
        chances: list[float] = []
        while self._goes_on(context, tokens, budget):
            settled = self._settle([*context, *tokens], position + len(tokens), budget - len(tokens))
            for token, chance in settled:
                chances.append(chance * (chances[-1] if chances else 1.0))
                if chances[-1] < UNSURE:
                    return Draft(tuple(tokens), source=self._source, chances=tuple(chances[:-1]))
                tokens.append(token)
        return Draft(tuple(tokens), source=self._source, chances=tuple(chances) if self._greedy else ())

    def observe(self, verification: Verification) -> None:
        """The model's memory follows the context by itself, and the trees are of what the model says."""

    def reset(self) -> None:
        self._trees.reset()

    def _goes_on(self, context: Sequence[int], tokens: Sequence[int], budget: int) -> bool:
        ended = bool(tokens) and self._is_end(tokens[-1])
        return not ended and len(tokens) < budget and len(context) + len(tokens) <= self._model.context_size

    def _settle(self, known: list[int], position: int, most: int) -> list[tuple[int, float]]:
        """At most so many tokens that the model says after ``known``, from one forward over a tree, each with its
        chance: 1 where they are drawn, with the noise that the target draws with."""
        room = min(most - 1, WIDEST, self._model.context_size - len(known))
        tree = self._trees.propose(known, room, position) if room else Draft(())
        verification = verify(self._model, known, tree, self._rule, position, self._is_end)
        self._trees.observe(verification)
        nodes = (-1, *verification.path)
        told = zip(nodes, verification.tokens, strict=False)  # after an end, no token follows the last node
        return [(token, self._chance(verification.rows[node + 1], token)) for node, token in told]

    def _chance(self, row: Row, token: int) -> float:
        return math.exp(row.logprob(token)) if self._greedy else 1.0


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError for a draft model with another vocabulary, one that tells too little of its rows, or no
    room."""
    draft = same_draft(parts, "settle trees for")
    draft.require("SpecMQuant", top=CANDIDATES, logprob=True)
    trees = recycling.of(parts, "specmquant", draft.model, draft.abilities.trees)
    return Settled(draft.model, parts.sampler, draft.tokenizer.is_end, trees)
