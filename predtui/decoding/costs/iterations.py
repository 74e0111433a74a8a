"""Measures DuoDecoding's iterations: what the target takes with and without a draft beside it, what the draft takes.

The budget follows from both, so that the decoder needs no clock. Must not know of either model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from predtui.decoding.costs.budget import Budget
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.spans import DRAFT
from predtui.decoding.draft import Verification
from predtui.decoding.duo_draft import Drafted, tokens_in


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration, in seconds: all of it, the target's forward, the draft. ``sequences``: how many were drafted, and
    ``first`` whether the target chose the first token of the first of them."""

    wall: float
    target: float
    draft: float
    tokens: int
    sequences: int
    first: bool


class Iterations:
    """The first of a reply reads the prompt, and is not measured."""

    def __init__(self, instrument: Instrument, budget: Budget, notify: Callable[[Iteration], None]) -> None:
        """``notify`` gets each iteration that was followed by another."""
        self.note = ""
        """A line for the person while drafting is off."""
        self._instrument, self._budget, self._notify = instrument, budget, notify
        self._number, self._streams = 0, False
        """Iterations of this reply; whether tokens come in one request without a draft."""

    def begin(self) -> None:
        """A reply begins."""
        self._number = 0

    def budget(self) -> int:
        """Tokens to draft in this one; 0 where the target is to work alone."""
        return self._budget.next()

    def verified(self, verification: Verification, beside: bool) -> None:
        """The target's forward is over; ``beside``: whether a draft was made meanwhile."""
        self._number += 1
        evaluated, seconds = len(verification.draft.tokens) + 1, self._instrument.seconds
        if self._number > 1 and beside:
            self._budget.verified(evaluated, len(verification.path), seconds)
        elif self._number > 1 and evaluated == 1:
            self._budget.alone(seconds)

    def streamed(self, tokens: int) -> None:
        """So many tokens, the rest of the reply as far as it was asked for, came in one request."""
        self._streams = True
        self._budget.streamed(tokens, self._instrument.stream.seconds)
        self.note = self._instrument.told_of_stream() if self._budget.off else ""

    def followed(self, verification: Verification, drafted: Drafted) -> None:
        """The draft that was made beside the target's forward is there, and the next iteration goes on with it."""
        openings = [sequence[0] for sequence in drafted.sequences]
        token, seconds = verification.next_token, self._instrument.seconds
        self._instrument.spans.worked(DRAFT, drafted.start, drafted.end)
        if self._number > 1 or self._streams:
            took = drafted.seconds if self._number > 1 else None
            self._budget.drafted(tokens_in(drafted.sequences), took, token in openings)
        if self._streams:
            self.note = ""
        elif self._number > 1:
            self.note = "drafting is off: the target alone is as fast here" if self._budget.off else ""
        wall, tokens = seconds + drafted.waited, len(verification.tokens)
        self._notify(Iteration(wall, seconds, drafted.seconds, tokens, len(openings), openings[0] == token))
