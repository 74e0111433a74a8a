"""When speculation pays on this machine: rules on what a forward costs here. Must not know of models or stages."""

from __future__ import annotations

import math
from collections.abc import Sequence

from predtui.decoding.costs.curve import Curve

MOST_CANDIDATES = 12
"""Candidates that one forward verifies at most."""
MOST_NODES = 128
"""Tokens that one forward verifies at most where there are several candidates."""
_ALMOST = 0.999
_DECAY = 0.95
_HELD, _FELL = 8.0, 1.0
"""Tokens of a candidate that hold, and one that does not, taken for seen at the beginning: first sentences have some
15 tokens, and about half of them hold as a whole (bench predgen)."""
_DISPLACED = 0.5
"""Forwards."""
_PATIENCE = 20
"""Prompts until what did not pay is tried again."""
_WON, _LOST = 1.0, 3.0
"""The same for former candidates, where the present one falls."""


class AcceptanceEstimate:
    """How likely a token of a candidate holds, out of the verifications before."""

    def __init__(self) -> None:
        self._held, self._fell = _HELD, _FELL
        self._won, self._lost = _WON, _LOST

    def chance(self, rank: int, depth: int) -> float:
        """Of the token at ``depth`` (from 0) of the candidate at ``rank``, 0 being the present one."""
        rate = min(_ALMOST, self._held / (self._held + self._fell))
        share = self._won / (self._won + self._lost) if rank else 1.0
        return share * math.pow(rate, depth + 1)

    def observe(self, held: int, fell: bool) -> None:
        """So many tokens of a candidate held, and then one ``fell``, or there was none left."""
        self._held = self._held * _DECAY + held
        self._fell = self._fell * _DECAY + fell

    def rescued(self, won: bool) -> None:
        """Whether a former candidate went on where the present one fell."""
        self._won = self._won * _DECAY + won
        self._lost = self._lost * _DECAY + (not won)


class LookaheadGate:
    """Whether looking ahead pays: what is found ready must be worth what is displaced, half a forward each time, that
    being how long new words wait for the one under way. Tried again now and then."""

    def __init__(self) -> None:
        self._saved = 1.0
        self._rests = 0

    @property
    def pays(self) -> bool:
        return self._saved > _DISPLACED or self._rests >= _PATIENCE

    def observe(self, looked: bool, saved: int) -> None:
        """A new prompt came: whether it was ``looked`` ahead before, and the forwards that this has ``saved``."""
        if looked:
            self._saved = self._saved * _DECAY + (1 - _DECAY) * saved
        self._rests = 0 if looked else self._rests + 1


def worth(chances: Sequence[float], before: int, costs: Curve, spare: float = math.inf) -> int:
    """How many tokens, in the order of their falling ``chances`` to hold, one forward should verify beside the
    ``before`` that it evaluates anyway: as many as save the most time, each that holds saving a forward of its own, and
    no more than take ``spare`` seconds where none of them does."""
    one, base = costs.seconds(1), costs.seconds(before)
    saved, best, count = 0.0, 0.0, 0
    for number, chance in enumerate(chances, 1):
        lost = costs.seconds(before + number) - base
        if lost > spare:
            break
        saved += chance * one
        if (gain := saved - lost) >= best:
            best, count = gain, number
    return count
