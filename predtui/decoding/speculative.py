"""Speculative decoding: a drafter proposes, one forward of the target verifies, a rule keeps what it accepts.

One loop for every drafter, rule and engine (Leviathan et al. 2023; Chen et al. 2023). Must not know of any of them, or
of what anything costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from predtui.decoding.accept import Acceptance, ExactMatch, RejectionSampling, verify
from predtui.decoding.base import Decoder, DecodingStatistics, Drafter
from predtui.decoding.costs.constants import FIRST
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.paced import NOTHING, PacedDrafter
from predtui.decoding.distant import Distant, distant
from predtui.decoding.draft import Verification
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LanguageModel, Stale, never


class Speculative:
    """A ``Decoder`` that is as lossless as its rule."""

    def __init__(
        self,
        model: LanguageModel,
        drafter: Drafter | PacedDrafter,
        rule: Acceptance,
        instrument: Instrument,
        first: int = FIRST,
        far: Distant | None = None,
    ) -> None:
        """``drafter``: is asked for as much as pays, unless it sees to that itself. ``instrument``: what measures
        the model's forwards. ``first``: tokens of a draft while nothing is known of what drafts bring. ``far``: the
        model, where it is behind a network."""
        self.statistics = DecodingStatistics(work=instrument.spans)
        self._model, self._rule, self._far = instrument.around(model), rule, far
        if isinstance(drafter, PacedDrafter):
            self._drafter = drafter
        else:
            self._drafter = PacedDrafter(drafter, instrument, model.abilities.trees, first)
        self.statistics.drafters = self._drafter.figures

    def generate(
        self,
        tokens: Sequence[int],
        limit: int,
        is_end: Callable[[int], bool],
        stale: Stale = never,
        position: int = 0,
        guesses: Sequence[Sequence[int]] = (),
    ) -> Iterator[int]:
        context, last, before = list(tokens), position + limit, self.statistics.tokens
        self._drafter.begin(context, limit, guesses)
        unknown = False  # whether the server alone knows if the next token is the end
        try:
            while position < last and len(context) <= self._model.context_size and not stale():
                room = min(last - position - 1, self._model.context_size - len(context))
                draft = NOTHING if unknown else self._drafter.propose(room, position)
                if self._far and not draft.tokens:
                    told = self.statistics, self._drafter.streamed
                    yield from self._far.rest(context, last - position, is_end, stale, *told)
                    return
                verification = verify(self._model, context, draft, self._rule, position, is_end)
                self._observe(verification)
                tokens = self._far.brought(verification, is_end) if self._far else verification.tokens
                for token in tokens:
                    yield token
                    if is_end(token):
                        return
                context += tokens
                position += len(tokens)
                unknown = len(tokens) < len(verification.tokens)
        finally:
            self._drafter.end(self.statistics.tokens - before)

    def observe(self, verification: Verification) -> None:
        self._drafter.heard(verification)

    def close(self) -> None:
        """Nothing was started."""

    def _observe(self, verification: Verification) -> None:
        self._drafter.observe(verification)
        self._drafter.tally(verification)
        self.statistics.count(len(verification.draft.tokens), len(verification.path), len(verification.tokens))
        self.statistics.judged(verification)
        self.statistics.note = self._drafter.note


def make(parts: Parts) -> Decoder:
    """Yields what autoregressive decoding yields, greedy or sampled."""
    rule = ExactMatch(parts.sampler)
    return Speculative(parts.target.model, parts.needed_drafter(), rule, parts.instrument, far=distant(parts))


def make_sampling(parts: Parts) -> Decoder:
    """Speculative sampling. Where nothing is left to chance, ``ExactMatch`` keeps what ``RejectionSampling`` keeps, and
    takes no distributions for that."""
    sampler = parts.sampler
    rule = ExactMatch(sampler) if isinstance(sampler, Greedy) else RejectionSampling(sampler)
    return Speculative(parts.target.model, parts.needed_drafter(), rule, parts.instrument, far=distant(parts))
