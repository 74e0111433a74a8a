"""A drafter around another, which asks it for as many tokens as pay, and lets it observe every forward.

It knows what drafts and forwards take, so that a decoder needs no clock: it decides the length of a draft, when to do
without, and whether a prompt is worth its prefill. Must not know how drafts are verified.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.decoding.base import WIDEST, Drafter
from predtui.decoding.costs.constants import FIRST
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.prefill import PrefillCost
from predtui.decoding.costs.scheduler import Scheduler
from predtui.decoding.costs.spans import DRAFT
from predtui.decoding.draft import Draft, Verification, merged
from predtui.decoding.guesses import Guesses
from predtui.state.events import DrafterFigures

NOTHING = Draft(())


class PacedDrafter:
    """Guesses at the reply are a source of drafts too, and go first; where the target evaluates trees, with the draft
    of the drafter beside them in the same forward, if what that takes longer is less than what it may bring."""

    def __init__(self, drafter: Drafter, instrument: Instrument, trees: bool, first: int = FIRST) -> None:
        """``trees``: whether the target evaluates drafts that branch. ``first``: tokens of a draft while nothing is
        known of what drafts bring."""
        self.note = ""
        """A line for the person while drafting is off."""
        self._drafter, self._instrument, self._trees = drafter, instrument, trees
        self._drafting = Scheduler(instrument.costs, first=first, alone=instrument.alone)
        self._guessing = Scheduler(instrument.costs, alone=instrument.alone)
        self._prefill = PrefillCost()
        self._pays = True
        self._guesses = Guesses()
        self._guessed = self._proposed = NOTHING
        """What guesses and the drafter proposed for the present forward."""
        self._context: list[int] = []
        self._asked, self._seconds = False, 0.0
        """Whether the drafter was, for the present forward, and how long it took."""
        self._tallies: dict[str, DrafterFigures] = {}

    def begin(self, context: list[int], limit: int, guesses: Sequence[Sequence[int]]) -> None:
        """A reply of at most ``limit`` tokens to ``context``, which grows as the reply does; perhaps one of these."""
        self._drafter.reset()
        self._guesses, self._context = Guesses(guesses, self._trees), context
        self._pays = self._prefill.pays(context, limit)

    def end(self, tokens: int) -> None:
        """The reply has ended, or is asked for no longer, after so many tokens."""
        self._prefill.replied(tokens)

    def streamed(self, tokens: int) -> str:
        """So many tokens, the rest of the reply as far as it was asked for, came in one request; the note for that."""
        if self._guesses.draft(1).tokens:
            self._guessing.streamed(tokens)
            self._drafting.waited(tokens)
        else:
            self._drafting.streamed(tokens)
        self.note = self._instrument.told_of_stream() if self._drafting.off else ""
        return self.note

    def propose(self, room: int, position: int) -> Draft:
        """At most ``room`` tokens that may follow the context, the last ``position`` of which belong to the reply."""
        if not self._guess(room).tokens:
            return self._own(0 if self._waits else min(self._drafting.budget(), room), position)
        draft = self._own(self._beside(min(room, WIDEST) - len(self._guessed.tokens)), position)
        return merged(self._guessed, draft) if draft.tokens and draft.q is None else self._guessed

    def observe(self, verification: Verification) -> None:
        """What the target made of it: of every draft, and of none."""
        if self._instrument.steady:
            for scheduler in (self._guessing, self._drafting):
                scheduler.verified(len(verification.draft.tokens) + 1)
        if not self._guessed.tokens and self._waits:
            self._drafting.waited(1)
        if self._guessed.tokens:
            self._learn_of(self._guessing, self._guessed, verification, 0.0)
        if self._asked:
            self._learn(verification)
        self._guesses.follow(verification.tokens)
        self._drafter.observe(verification)

    def heard(self, verification: Verification) -> None:
        """A forward that was not asked for a draft of this, and may teach the drafter something."""
        self._drafter.observe(verification)

    def tally(self, verification: Verification) -> None:
        """Add the present forward to the figures of whoever made its draft."""
        source = verification.draft.source if verification.draft.tokens else ""
        was = self._tallies.get(source) or DrafterFigures(source)
        self._tallies[source] = DrafterFigures(
            source,
            was.forwards + 1,
            was.proposed + len(verification.draft.tokens),
            was.accepted + len(verification.path),
            was.tokens + len(verification.tokens),
            was.seconds + self._instrument.seconds + self.drafted_for,
        )

    @property
    def drafted_for(self) -> float:
        """Seconds that the last draft took, with all that was tried beside it."""
        return self._seconds if self._asked else 0.0

    def _softly(self, draft: Draft) -> float:
        """Seconds that a forward over ``draft`` takes longer for its soft tokens: they are a price of drafting."""
        costs, plain = self._instrument.costs, len(draft.tokens) + 1
        soft = sum(length for _, length in draft.soft)
        return costs.seconds(plain + soft) - costs.seconds(plain) if soft and 1 in costs else 0.0

    def figures(self) -> tuple[DrafterFigures, ...]:
        """What each source did, forwards without a draft among them."""
        return tuple(self._tallies.values())

    def waited(self, forwards: int) -> None:
        """So many were done without asking the source."""
        self._drafting.waited(forwards)

    @property
    def rate(self) -> float:
        """How likely a token of the source's drafts is accepted after one that was."""
        return self._drafting.rate

    def drafting(self, tokens: int) -> float:
        """Seconds that a draft of so many tokens takes, once the prompt is read; 0 while nothing was measured."""
        return self._drafting.drafting(tokens)

    @property
    def _waits(self) -> bool:
        """Whether a forward is done without the drafter, since its draft would not pay."""
        return not self._pays or self._drafting.paused > 0

    def _guess(self, room: int) -> Draft:
        """A forward begins: what guesses propose for it."""
        budget = min(self._guessing.budget(), room)
        self._guessed = self._guesses.draft(budget, self._guessing.rate)
        self._proposed, self._asked, self._seconds = NOTHING, False, 0.0
        return self._guessed

    def _own(self, budget: int, position: int) -> Draft:
        """The drafter's draft, of at most ``budget`` tokens."""
        self._asked = budget > 0
        if not self._asked:
            return NOTHING
        start = self._instrument.now()
        draft = self._drafter.propose(self._context, budget, position)
        end = self._instrument.now()
        self._seconds = end - start
        self._instrument.spans.worked(DRAFT, start, end)
        draft = draft if self._trees else draft.best_path()
        if draft.chances:
            draft = draft.first(self._drafting.worth(draft.chances, self._seconds + self._softly(draft)))
        self._proposed = draft
        return draft

    def _beside(self, room: int) -> int:
        """Tokens to draft beside guesses: what that takes longer is to be less than what it brings where they fail."""
        budget = min(self._drafting.budget(), room)
        if budget < 1 or self._waits or not self._trees or not self._drafting.known:
            return 0
        costs, guessed = self._instrument.costs, len(self._guessed.tokens) + 1
        longer = (
            self._prefill.unread_s
            + self._drafting.drafting(budget)
            + costs.seconds(guessed + budget)
            - costs.seconds(guessed)
        )
        gain = (1 - self._guessing.rate) * self._drafting.expected(budget) * self._instrument.alone()
        return budget if gain > longer else 0

    def _learn(self, verification: Verification) -> None:
        """What the draft took, and what it brought."""
        draft = self._proposed if self._guessed.tokens else verification.draft
        seconds = self._without_prefill(draft, verification)
        if not draft.tokens:
            self._drafting.missed()
            return
        self._learn_of(self._drafting, draft, verification, seconds)
        off = f"drafting is off: it costs more than it saves here ({self._drafting.rate:.0%} accepted)"
        self.note = off if self._drafting.off else ""

    def _learn_of(self, scheduler: Scheduler, draft: Draft, verification: Verification, seconds: float | None) -> None:
        """Of one part of what was verified."""
        path = draft.followed(verification.tokens)
        depth = len(path) if verification.next_token is None else draft.depth(path)
        scheduler.drafted(len(draft.tokens), depth, len(path), seconds)

    def _without_prefill(self, draft: Draft, verification: Verification) -> float | None:
        """Seconds of ``draft`` that were no prefill, None where that is not known; what it saved, with several tokens
        in one forward in place of one by one, is kept beside what the prefill took."""
        proposed, costs = len(draft.tokens), self._instrument.costs
        usual = self._drafting.drafting(proposed or 1)
        seconds = self._prefill.took(self._context, self._seconds, usual)
        if seconds is not None and 1 in costs and not self._guessed.tokens:
            tokens = len(verification.tokens)
            gain = tokens * self._instrument.alone() - costs.seconds(proposed + 1) if proposed else 0.0
            self._prefill.saved(tokens, gain - seconds)
        return None if seconds is None else seconds + self._softly(draft)
