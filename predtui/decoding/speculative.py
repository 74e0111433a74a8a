"""Speculative decoding: a drafter proposes, one forward of the target verifies, an acceptance rule keeps what holds.

One loop for every drafter, rule and engine. Must not know of any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence

from predtui.clock import Clock
from predtui.decoding import autoregressive
from predtui.decoding.accept import Acceptance, ExactMatch, RejectionSampling, verify
from predtui.decoding.base import Decoder, DecodingStatistics, Drafter, Sampler
from predtui.decoding.costs.constants import FIRST, SINGLES
from predtui.decoding.costs.curve import Curve
from predtui.decoding.costs.prefill import PrefillCost
from predtui.decoding.costs.scheduler import Scheduler
from predtui.decoding.costs.spans import DRAFT, TARGET
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LanguageModel, Stale, TreeModel, never


class Speculative:
    """A ``Decoder`` that is as lossless as its acceptance rule."""

    def __init__(
        self,
        model: LanguageModel,
        sampler: Sampler,
        drafter: Drafter,
        acceptance: Acceptance,
        clock: Clock,
        first: int = FIRST,
    ) -> None:
        """``first``: tokens of a draft while nothing is known of what drafts bring."""
        self.statistics = DecodingStatistics()
        self._model, self._sampler, self._drafter = model, sampler, drafter
        self._acceptance, self._now = acceptance, clock.now
        self._trees = model if isinstance(model, TreeModel) else None
        self._single = False
        """Whether the forward before was over one token. Only after such a one does another count as measured: engines
        pay for a change of shape and for cold caches, and without drafts there would be neither."""
        self._costs = Curve()
        self._drafting, self._guessing = Scheduler(self._costs, first=first), Scheduler(self._costs)
        self._reading = PrefillCost()

    def generate(
        self,
        tokens: Sequence[int],
        limit: int,
        is_end: Callable[[int], bool],
        stale: Stale = never,
        position: int = 0,
        guess: Sequence[int] = (),
    ) -> Iterator[int]:
        """A guess is tried as the draft for as long as some of it holds, whatever it said in the place of what did not
        left out: replies to two prompts often differ in a word."""
        context, last = list(tokens), position + limit
        self._drafter.reset()
        pays = self._reading.pays(context, limit)
        before = self.statistics.tokens
        try:
            yield from self._reply(context, last, is_end, stale, position, guess, pays)
        finally:
            self._reading.replied(self.statistics.tokens - before)

    def close(self) -> None:
        """Nothing was started."""

    def _reply(
        self,
        context: list[int],
        last: int,
        is_end: Callable[[int], bool],
        stale: Stale,
        position: int,
        guess: Sequence[int],
        pays: bool,
    ) -> Iterator[int]:
        """``generate``, up to position ``last``; ``pays``: whether the drafter is worth asking."""
        while position < last and len(context) <= self._model.context_size and not stale():
            pause = self._drafting.paused if pays else last
            if not guess and pause:
                count = yield from self._alone(context, min(pause, last - position), is_end, stale, position)
                self._drafting.waited(count)
                position += count
                if count and is_end(context[-1]):
                    return
                continue
            room = min(last - position - 1, self._model.context_size - len(context))
            verification = self._step(context, room, position, guess, is_end)
            new = verification.tokens
            guess = guess[len(new) :] if verification.path else ()
            for token in new:
                yield token
                if is_end(token):
                    return
            context += new
            position += len(new)

    def _alone(
        self, context: list[int], limit: int, is_end: Callable[[int], bool], stale: Stale, position: int
    ) -> Generator[int, None, int]:
        """At most ``limit`` tokens without drafts, which are added to the context; how many. What the first of them
        cost is measured."""
        counters, measured, known = self._model.counters, 0, len(context)
        begun, before = self._now(), counters.tokens
        for token in autoregressive.generate(self._model, context, self._sampler, limit, is_end, stale, position):
            evaluated = self._now()
            self.statistics.count(proposed=0, accepted=0, tokens=1)
            self.statistics.work.worked(TARGET, begun, evaluated)
            if measured < SINGLES:
                alone = counters.tokens == before + 1
                if alone and self._single:
                    self._drafting.verified(1, evaluated - begun)
                    measured += 1
                self._single = alone
            context.append(token)
            yield token
            begun, before = self._now(), counters.tokens
        return len(context) - known

    def _step(
        self, context: list[int], room: int, position: int, guess: Sequence[int], is_end: Callable[[int], bool]
    ) -> Verification:
        """One forward of the target: at most ``room`` tokens of a draft, and the token after them."""
        scheduler, start = self._guessing if guess else self._drafting, self._now()
        budget = min(scheduler.budget(), room)
        draft = self._propose(context, budget, position, guess) if budget else _NOTHING
        drafted, before = self._now(), self._model.counters.tokens
        if draft.chances:
            draft = draft.first(scheduler.worth(draft.chances, drafted - start))
        verification = verify(self._model, context, draft, self._acceptance, position, is_end)
        verified = self._now()
        accepted = len(verification.path)
        proposed, alone = len(draft.tokens), self._model.counters.tokens - before == len(draft.tokens) + 1
        if alone and (proposed or self._single):
            scheduler.verified(proposed + 1, verified - drafted)
        self.statistics.work.worked(TARGET, drafted, verified)
        self._single = alone and not proposed
        self.statistics.count(proposed, accepted, len(verification.tokens))
        if not budget:
            return verification
        self.statistics.work.worked(DRAFT, start, drafted)
        took = drafted - start if guess else self._told(context, drafted - start, len(verification.tokens), proposed)
        if proposed:
            depth = accepted if verification.next_token is None else draft.depth(verification.path)
            scheduler.drafted(proposed, depth, accepted, took)
            self.statistics.note = _note(self._drafting) if self._drafting.off else ""
        else:
            scheduler.missed()
        self._drafter.observe(verification)
        return verification

    def _told(self, context: list[int], seconds: float, tokens: int, proposed: int) -> float | None:
        """How many of a draft's ``seconds`` were no reading of the prompt, None where that cannot be told; what it
        saved, with ``tokens`` in one forward in place of one by one, is kept beside what reading took."""
        took = self._reading.took(context, seconds, self._drafting.drafting(proposed or 1))
        if took is not None and 1 in self._costs:
            gain = tokens * self._costs.seconds(1) - self._costs.seconds(proposed + 1) if proposed else 0.0
            self._reading.saved(tokens, gain - took)
        return took

    def _propose(self, context: list[int], budget: int, position: int, guess: Sequence[int]) -> Draft:
        if guess:
            return Draft(tuple(guess[:budget]), source="guess")
        draft = self._drafter.propose(context, budget, position)
        return draft if self._trees else draft.best_path()


_NOTHING = Draft(())


def _note(scheduler: Scheduler) -> str:
    return f"drafting is off: it costs more than it saves here ({scheduler.rate:.0%} accepted)"


def make(parts: Parts) -> Decoder:
    """Yields what autoregressive decoding yields, greedy or sampled."""
    return Speculative(
        parts.target.model, parts.sampler, parts.needed_drafter(), ExactMatch(parts.sampler), parts.clock
    )


def make_sampling(parts: Parts) -> Decoder:
    """Speculative sampling. Where nothing is left to chance, ``ExactMatch`` keeps what ``RejectionSampling`` keeps, and
    takes no distributions for that."""
    sampler = parts.sampler
    rule = ExactMatch(sampler) if isinstance(sampler, Greedy) else RejectionSampling(sampler)
    return Speculative(parts.target.model, sampler, parts.needed_drafter(), rule, parts.clock)
