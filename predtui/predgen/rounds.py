"""Work in rounds, as PredGen's authors run it: input is looked at only where a round ends (PredGen, section 3).

Must not know of input, of models or of stages.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rounds:
    """A turn begins with ``first`` new tokens. Each round after it brings the token of its verification and ``more``
    beyond it; while the input stands still, what a verification would let pass is taken as it is."""

    first: int = 30
    more: int = 10

    def ends(self, new: int, begins: bool) -> bool:
        """Whether a round ends with the ``new``-th token beyond what was accepted; ``begins``: of a turn's first
        prompt."""
        rest = new - self.first if begins else new
        return new > 0 and rest >= 0 and rest % (self.more + 1) == 0
