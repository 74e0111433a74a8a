"""DySpec (Xiong et al. 2024): a tree that grows where the draft model thinks a token likeliest to be accepted.

A heap holds what may come next; how likely the draft model is to say a token is how likely the target is taken to
accept it, and the product along its path is the chance of a node. Where the abstract leaves a gap: at a temperature, a
token's chance reckons with the noise of its position, which is the target's, too; and what is proposed counts as
certain, which keeps speculative sampling exact whatever the order of growth. Must not know of verification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from predtui.decoding.base import WIDEST, Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.bridge import same_draft
from predtui.decoding.drafters.grow import Options, Path, grow
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import foreseen
from predtui.llm.base import LanguageModel

CANDIDATES = 8
"""Tokens that may follow a node: others are hardly ever accepted."""
UNLIKELY = 0.05
"""A node with less of a chance is not worth a forward of the draft model."""


class DySpec:
    """Keeps what the draft model said of the present draft, and nothing beyond it."""

    def __init__(
        self, model: LanguageModel, sampler: Sampler, is_end: Callable[[int], bool], branching: bool = True
    ) -> None:
        """``model`` speaks the target's tokens; ``is_end``: after which of them a path ends. ``branching``: whether
        the target evaluates trees; else it is the sequence of likeliest tokens."""
        self._model, self._sampler, self._is_end = model, sampler, is_end
        self._candidates = CANDIDATES if branching else 1

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        def after(path: Path) -> Options:
            return self.after(context, path, position)

        return grow(after, min(budget, WIDEST) if self._candidates > 1 else budget, UNLIKELY, "dyspec")

    def after(self, context: Sequence[int], path: Path, position: int) -> Options:
        """What the model takes for likely after ``path``; nothing after an end, or where there is no room."""
        if (path and self._is_end(path[-1])) or len(context) + len(path) > self._model.context_size:
            return ()
        row = self._model.forward([*context, *path])[-1]
        return foreseen(self._sampler, row, position + len(path), self._candidates)

    def observe(self, verification: Verification) -> None:
        """The model's memory follows the context by itself."""

    def reset(self) -> None:
        """The model's memory follows the context by itself."""


def make(parts: Parts) -> DySpec:
    """Raises PredtuiError for a draft model with another vocabulary."""
    draft = same_draft(parts, "draft trees for")
    draft.require("DySpec", logprob=True)
    return DySpec(draft.model, parts.sampler, draft.tokenizer.is_end, parts.target.abilities.trees)
