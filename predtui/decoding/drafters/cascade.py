"""A vertical cascade (Cascade Speculative Drafting, Chen et al. 2024): a corpus drafts for the draft model, and that
one for the target.

The model looks at a run of the corpus's tokens in one forward, in place of one forward a token. What both say is surer
than what either says: where they agree the draft goes on, where they differ the likelier token stands. Must not know
of verification.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from predtui.decoding.base import Drafter, Sampler
from predtui.decoding.datastore import GAP, Datastore
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.bridge import same_draft
from predtui.decoding.drafters.rest import Foresight
from predtui.decoding.parts import Parts
from predtui.llm.base import LanguageModel
from predtui.llm.rows import Row

SHOWN = 0.5
"""The model is shown as much of what the corpus says as is likelier than this."""
LIKELY = 0.4
"""A draft ends before a token that is kept with a chance below this: what follows it is mostly lost."""


class Cascade:
    """What it proposes counts as certain, which keeps speculative sampling exact whatever the sources."""

    def __init__(self, store: Datastore, model: LanguageModel, sampler: Sampler, is_end: Callable[[int], bool]) -> None:
        """``model`` speaks the target's tokens; ``is_end``: after which of them a draft has ended."""
        self._store, self._model, self._sampler, self._is_end = store, model, sampler, is_end

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        tokens: list[int] = []
        chances: list[float] = []
        together = 1.0
        for token, chance in self._after(list(context), budget, position):
            together *= chance
            if together < LIKELY:
                break
            tokens.append(token)
            chances.append(together)
            if self._is_end(token):
                break
        return Draft(tuple(tokens), source="cascade", chances=tuple(chances))

    def observe(self, verification: Verification) -> None:
        """The next context says it all."""

    def reset(self) -> None:
        """Nothing is remembered but by the model, whose memory follows the context by itself."""

    def _after(self, known: list[int], budget: int, position: int) -> Iterator[tuple[int, float]]:
        """At most ``budget`` tokens after ``known``, each with its chance where those before it are kept."""
        corpus, end = Foresight(self._store, known), len(known) + budget
        while (room := min(end - 1, self._model.context_size) - len(known)) >= 0:
            run = corpus.ahead(room, SHOWN)
            rows = self._model.forward([*known, *(token for token, _ in run)], len(run) + 1)
            for row, (said, trust) in zip(rows, [*run, (GAP, 0.0)], strict=True):
                own = self._sampler.choose(row, position + len(known) - end + budget)
                token, chance = likelier(row, own, said, trust)
                yield token, chance
                known.append(token)
                corpus.take(token)
                if token != said:
                    break


def likelier(row: Row, own: int, said: int, trust: float) -> tuple[int, float]:
    """The token and its chance: the model's ``own`` choice from ``row``, or what the corpus ``said`` with so
    much ``trust``; the odds of both sources multiplied."""
    mine = math.exp(row.logprob(own))
    if not trust:
        return own, mine
    shared = math.exp(row.logprob(said))
    both, neither = shared * trust, (1 - shared) * (1 - trust)
    if said == own or both > mine * (1 - trust):
        return said, both / (both + neither)
    return own, mine * (1 - trust) / (both + neither)


def make(parts: Parts) -> Drafter:
    draft = same_draft(parts, "be part of a cascade for")
    draft.require("A cascade", logprob=True)
    return Cascade(parts.needed_datastore(), draft.model, parts.sampler, draft.tokenizer.is_end)
