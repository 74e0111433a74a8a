"""Two drafters as one (as RASD, 2025, fuses retrieval with a draft): the first leads, the second fills in.

Must not know what either drafts with.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.decoding.base import Drafter
from predtui.decoding.draft import Draft, Verification, merged
from predtui.decoding.drafters import model, suffix
from predtui.decoding.parts import Parts


class Fused:
    """The first drafter's draft; where it has none, or leaves budget and the target evaluates trees, the second's."""

    def __init__(self, first: Drafter, second: Drafter, branching: bool) -> None:
        """``branching``: whether to merge both drafts into a tree where the first leaves part of the budget."""
        self._first, self._second = first, second
        self._branching = branching

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        first = self._first.propose(context, budget, position)
        left = budget - len(first.tokens)
        if not left or (first.tokens and not self._branching):
            return first
        second = self._second.propose(context, left, position)
        if not first.tokens or not second.tokens:
            return second if second.tokens else first
        return first if first.q is not None or second.q is not None else merged(first, second)

    def observe(self, verification: Verification) -> None:
        self._first.observe(verification)
        self._second.observe(verification)

    def reset(self) -> None:
        self._first.reset()
        self._second.reset()


def make(parts: Parts) -> Drafter:
    return Fused(suffix.make(parts), model.make(parts), parts.target.abilities.trees)
