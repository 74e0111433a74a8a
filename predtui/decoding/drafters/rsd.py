"""Recursive Speculative Decoding (Jeon et al. 2024): a tree whose siblings are drawn without replacement.

The abstract names two trees; this is the one of constant branching factors, by Gumbel-top-k: a node's children are the
tokens of the highest log-probability plus noise, and each has the distribution of a draw from those that are left. The
noise is the target's own at that position, so that the first child is often what the target will choose. The other
half, recursive rejection sampling, is ``accept.RejectionSampling``, which tries one sibling after another against the
residual. Where the abstract leaves a gap: ``WIDTHS`` are the branching factors. Must not know of verification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from predtui.decoding.base import WIDEST, Probabilities, Sampler
from predtui.decoding.draft import Draft, Verification, unless_sequence
from predtui.decoding.drafters.bridge import same_draft
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Seeded, foreseen
from predtui.llm.base import LanguageModel
from predtui.llm.rows import Row

WIDTHS = (2, 2)
"""Children of the context, then of each node one deeper; 1 below."""
Path = tuple[int, ...]
Children = list[tuple[int, Probabilities | None]]
"""Tokens in the order in which they were drawn, each with the distribution that it was drawn from; None: certain."""


class RSD:
    """Remembers nothing between drafts."""

    def __init__(
        self, model: LanguageModel, sampler: Sampler, is_end: Callable[[int], bool], branching: bool = True
    ) -> None:
        """``model`` speaks the target's tokens; ``is_end``: after which of them a path ends. ``branching``: whether
        the target evaluates trees; else it is a sequence."""
        self._model, self._sampler, self._is_end = model, sampler, is_end
        self._widths = WIDTHS if branching else ()

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        """Level by level, until the budget is spent."""
        budget = min(budget, WIDEST) if self._widths else budget
        paths: list[Path] = []
        parents: list[int] = []
        q: list[Probabilities] = []
        for node in range(-1, budget):
            if node >= len(paths) or len(paths) >= budget:
                break
            path = paths[node] if node >= 0 else ()
            for token, chances in self._children(context, path, position)[: budget - len(paths)]:
                paths.append((*path, token))
                parents.append(node)
                q += [] if chances is None else [chances]
        tokens = tuple(path[-1] for path in paths)
        return Draft(tokens, unless_sequence(parents), np.stack(q) if q else None, "rsd")

    def observe(self, verification: Verification) -> None:
        """The model's memory follows the context by itself."""

    def reset(self) -> None:
        """The model's memory follows the context by itself."""

    def _children(self, context: Sequence[int], path: Path, position: int) -> Children:
        if (path and self._is_end(path[-1])) or len(context) + len(path) > self._model.context_size:
            return []
        width = self._widths[len(path)] if len(path) < len(self._widths) else 1
        row = self._model.forward([*context, *path])[-1]
        return without_replacement(self._sampler, row, position + len(path), width)


def without_replacement(sampler: Sampler, row: Row, position: int, count: int) -> Children:
    """``count`` different tokens at most, drawn one after another with the noise of the position, each from those that
    are left; the likeliest ones, all of them certain, where no noise of the position decides."""
    drawn = [token for token, _ in foreseen(sampler, row, position, count)]
    if not isinstance(sampler, Seeded):
        return [(token, None) for token in drawn]
    children: Children = []
    left = sampler.probabilities(row)
    for token in drawn:
        if not left[token]:  # noise lifts it where its chance is no number any more
            break
        children.append((token, left / left.sum()))
        left = left.copy()
        left[token] = 0
    return children


def make(parts: Parts) -> RSD:
    """Raises PredtuiError for a draft model with another vocabulary."""
    draft = same_draft(parts, "draft trees for")
    draft.require("RSD", logprob=True)
    return RSD(draft.model, parts.sampler, draft.tokenizer.is_end, parts.target.abilities.trees)
