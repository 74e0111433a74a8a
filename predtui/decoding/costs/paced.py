"""A drafter around another, which asks it for as many tokens as pay, and lets it observe every forward.

It knows what drafts and forwards take, so that a decoder needs no clock: it decides the length of a draft, when to do
without, and whether a prompt is worth its prefill. Must not know how drafts are verified.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.decoding.base import Drafter
from predtui.decoding.costs.constants import FIRST
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.prefill import PrefillCost
from predtui.decoding.costs.scheduler import Scheduler
from predtui.decoding.costs.spans import DRAFT
from predtui.decoding.draft import Draft, Verification
from predtui.state.events import DrafterFigures

NOTHING = Draft(())


class PacedDrafter:
    """A guess at the reply is a source of drafts too, and goes first: for as long as some of it is accepted, whatever
    it said in the place of what was not left out, since replies to two prompts often differ in a word."""

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
        self._guess: Sequence[int] = ()
        self._context: list[int] = []
        self._asked, self._seconds = False, 0.0
        """Whether there was a budget for the last draft, and how long it took."""
        self._tallies: dict[str, DrafterFigures] = {}

    def begin(self, context: list[int], limit: int, guess: Sequence[int]) -> None:
        """A reply of at most ``limit`` tokens to ``context``, which grows as the reply does; perhaps this ``guess``."""
        self._drafter.reset()
        self._guess, self._context = guess, context
        self._pays = self._prefill.pays(context, limit)

    def end(self, tokens: int) -> None:
        """The reply has ended, or is asked for no longer, after so many tokens."""
        self._prefill.replied(tokens)

    def streamed(self, tokens: int) -> str:
        """So many tokens, the rest of the reply as far as it was asked for, came in one request; the note for that."""
        if self._guess:
            self._guessing.streamed(tokens)
            self._drafting.waited(tokens)
        else:
            self._drafting.streamed(tokens)
        self.note = self._instrument.told_of_stream() if self._drafting.off else ""
        return self.note

    def propose(self, room: int, position: int) -> Draft:
        """At most ``room`` tokens that may follow the context, the last ``position`` of which belong to the reply."""
        budget = 0 if self._waits else min(self._scheduler.budget(), room)
        self._asked = budget > 0
        if not self._asked:
            return NOTHING
        start = self._instrument.now()
        draft = self._proposed(budget, position)
        end = self._instrument.now()
        self._seconds = end - start
        self._instrument.spans.worked(DRAFT, start, end)
        return draft.first(self._scheduler.worth(draft.chances, self._seconds)) if draft.chances else draft

    def observe(self, verification: Verification) -> None:
        """What the target made of it: of every draft, and of none."""
        scheduler = self._scheduler
        if self._instrument.steady:
            scheduler.verified(len(verification.draft.tokens) + 1)
        if self._waits:
            scheduler.waited(1)
        if self._asked:
            self._learn(scheduler, verification)
        if self._guess:
            self._guess = self._guess[len(verification.tokens) :] if verification.path else ()
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

    def figures(self) -> tuple[DrafterFigures, ...]:
        """What each source did, forwards without a draft among them."""
        return tuple(self._tallies.values())

    def waited(self, forwards: int) -> None:
        """So many were done without asking the source."""
        self._drafting.waited(forwards)

    def drafting(self, tokens: int) -> float:
        """Seconds that a draft of so many tokens takes, once the prompt is read; 0 while nothing was measured."""
        return self._drafting.drafting(tokens)

    @property
    def _scheduler(self) -> Scheduler:
        return self._guessing if self._guess else self._drafting

    @property
    def _waits(self) -> bool:
        """Whether this forward is done without a draft, since one would not pay."""
        return not self._guess and (not self._pays or self._drafting.paused > 0)

    def _proposed(self, budget: int, position: int) -> Draft:
        if self._guess:
            return Draft(tuple(self._guess[:budget]), source="guess")
        draft = self._drafter.propose(self._context, budget, position)
        return draft if self._trees else draft.best_path()

    def _learn(self, scheduler: Scheduler, verification: Verification) -> None:
        """What the draft took, and what it brought."""
        draft, path = verification.draft, verification.path
        seconds = self._seconds if self._guess else self._without_prefill(verification)
        if not draft.tokens:
            scheduler.missed()
            return
        depth = len(path) if verification.next_token is None else draft.depth(path)
        scheduler.drafted(len(draft.tokens), depth, len(path), seconds)
        off = f"drafting is off: it costs more than it saves here ({self._drafting.rate:.0%} accepted)"
        self.note = off if self._drafting.off else ""

    def _without_prefill(self, verification: Verification) -> float | None:
        """Seconds of the draft that were no prefill, None where that is not known; what it saved, with several tokens
        in one forward in place of one by one, is kept beside what the prefill took."""
        proposed, costs = len(verification.draft.tokens), self._instrument.costs
        usual = self._drafting.drafting(proposed or 1)
        seconds = self._prefill.took(self._context, self._seconds, usual)
        if seconds is not None and 1 in costs:
            tokens = len(verification.tokens)
            gain = tokens * self._instrument.alone() - costs.seconds(proposed + 1) if proposed else 0.0
            self._prefill.saved(tokens, gain - seconds)
        return seconds
