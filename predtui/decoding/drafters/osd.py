"""Online Speculative Decoding (Liu et al. 2023): a smaller model whose guesses are bettered by what the target has said
before. Drafts as ``model`` does, with the logits of ``decoding.online``; what is learnt, it learns in idle time. Must
not know of verification.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.decoding import learnt
from predtui.decoding.base import Drafter
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters import model
from predtui.decoding.drafters.bridge import same_draft
from predtui.decoding.drafters.model import ModelDrafter
from predtui.decoding.head_draft import SPINNING
from predtui.decoding.learner import Learner
from predtui.decoding.parts import Parts
from predtui.decoding.recall import Recall
from predtui.llm.base import LanguageModel, tells_hidden
from predtui.llm.rows import Row
from predtui.system.threads import limit_numpy


class OnlineDrafter:
    """Its learner hears all that the target says."""

    def __init__(self, drafter: ModelDrafter, draft: LanguageModel, learner: Learner) -> None:
        """``drafter`` asks ``after`` for the rows of ``draft``."""
        self._drafter, self._draft, self._learner = drafter, draft, learner
        drafter.after = self.after
        self._recall, self._context = Recall(), list[int]()

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        """As ``ModelDrafter`` does."""
        self._context = list(context)
        self._recall.read(context)
        return self._drafter.propose(context, budget, position)

    def after(self, sequence: Sequence[int]) -> Row:
        """What the draft says after the context and what is drafted behind it."""
        rows = self._draft.forward(sequence)
        return self._learner.adapted(self._recall, self._context, sequence[len(self._context) :], rows)

    def observe(self, verification: Verification) -> None:
        self._learner.heard(verification)

    def reset(self) -> None:
        """The model's memory follows the context by itself."""


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError for a draft of another vocabulary: the target's words are none of its own."""
    draft = same_draft(parts, "learn of")
    if tells_hidden(draft.model):
        draft.model.tell_hidden()
    if parts.target.engine == SPINNING:
        limit_numpy(1)
    file = learnt.File(parts.learnt, learnt.pair(parts.target, draft)) if parts.learnt else None
    learner = Learner(draft.model, file)
    parts.memory.fixed("What the draft has learnt", learner.adapter.nbytes)
    if parts.learns:
        parts.learners.append(learner)
    return OnlineDrafter(model.alone(parts, "osd"), draft.model, learner)
