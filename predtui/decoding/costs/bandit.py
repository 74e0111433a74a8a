"""Which of several sources to draft with, learnt by a bandit that may never fall far behind doing without.

The worth of an arm is the tokens it brings for the time that plain decoding takes for one, a mean in which the old
counts less and less (discounted UCB: Garivier & Moulines 2011), as in BanditSpec (Hou et al. 2025), which calls the
choice of a drafter a bandit. Two purses hold what it may cost, as in Conservative Bandits (Wu et al. 2016): of the time
of all forwards a fixed share flows into each. A draft is verified only where the purse could bear that nothing of it is
accepted; what was won by drafts flows back, up to a bound, so that old gains are not staked. What is only looked at is
paid out of the other. So what is lost is bounded at any moment, whatever the arms do. Must not know of models, of
drafters or of clocks.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence

from predtui.decoding.costs.constants import (
    BANDIT_BOLD,
    BANDIT_DECAY,
    BANDIT_LOOK,
    BANDIT_PRIOR,
    BANDIT_STAKE,
    BANDIT_STAKE_FIRST,
    BANDIT_STAKE_MOST,
)


class Tally:
    """What one arm brought lately, in tokens and in times of a plain forward."""

    def __init__(self) -> None:
        self.seen = self._tokens = self._cost = 0.0

    def add(self, tokens: float, cost: float) -> None:
        """A draft brought so many tokens for so many times of a plain forward."""
        self.seen = self.seen * BANDIT_DECAY + 1
        self._tokens = self._tokens * BANDIT_DECAY + tokens
        self._cost = self._cost * BANDIT_DECAY + cost

    def vain(self, cost: float) -> None:
        """The arm was asked, which took that long, and had nothing to say."""
        self.seen = self.seen * BANDIT_DECAY + 1
        self._cost += cost

    def value(self, prior: float) -> float:
        """How many times as fast as plain decoding; ``prior``: what is thought of that before anything is seen."""
        return (self._tokens + BANDIT_PRIOR * prior) / (self._cost + BANDIT_PRIOR)


class Bandit:
    """Arms by their indices; doing without is none of them, and worth 1 by definition. What is known of an arm in all
    kinds of contexts is thought of it in each, until that kind says otherwise."""

    def __init__(self, priors: Sequence[float], kinds: int) -> None:
        """``priors``: of each arm what it is worth before anything is known. ``kinds``: of contexts."""
        self.arms, self._priors = range(len(priors)), priors
        self._all = [Tally() for _ in priors]
        self._kinds = [[Tally() for _ in priors] for _ in range(kinds)]
        self._orders: list[list[int] | None] = [None] * kinds
        self._stake, self._look = BANDIT_STAKE_FIRST, 0.0
        """Of what may be lost by drafts, and by looking at others: in times of a plain forward."""

    def order(self, kind: int) -> Sequence[int]:
        """The arms that are thought to be faster than doing without, the fastest first."""
        order = self._orders[kind]
        if order is None:
            values = [self.value(arm, kind) for arm in self.arms]
            order = sorted((arm for arm in self.arms if values[arm] > 1), key=lambda arm: -values[arm])
            self._orders[kind] = order
        return order

    def value(self, arm: int, kind: int) -> float:
        """Its speed there, as a multiple of plain decoding's."""
        return self._kinds[kind][arm].value(self._all[arm].value(self._priors[arm]))

    def most_promising(self, kind: int, but: Container[int], costs: Sequence[float]) -> int | None:
        """The arm that may be the best for all that is known, of those that can be looked at now, for these ``costs``
        in times of a forward; None where none may be better than the best is."""
        seen = [tally.seen + BANDIT_PRIOR for tally in self._kinds[kind]]
        values = [self.value(arm, kind) for arm in self.arms]
        spread = math.log(sum(seen) + 1)
        bounds = {
            arm: values[arm] + BANDIT_BOLD * math.sqrt(spread / seen[arm])
            for arm in self.arms
            if arm not in but and costs[arm] <= self._look
        }
        arm = max(bounds, key=bounds.__getitem__, default=None)
        return arm if arm is not None and bounds[arm] >= max(1.0, *values) else None

    def learn(self, arm: int, kind: int, tokens: float, cost: float) -> None:
        """A draft of ``arm`` brought so many tokens, or would have, for so many times of a plain forward."""
        self._kinds[kind][arm].add(tokens, cost)
        self._all[arm].add(tokens, cost)
        self._orders = [None] * len(self._orders)

    def vain(self, arm: int, kind: int, cost: float) -> None:
        """``arm`` was asked, which took that long, and had nothing to say."""
        self._kinds[kind][arm].vain(cost)
        self._all[arm].vain(cost)
        self._orders = [None] * len(self._orders)

    def passed(self, forwards: float) -> None:
        """Time has passed, in times of a plain forward."""
        self._look = min(self._look + BANDIT_LOOK * forwards, BANDIT_STAKE_MOST)
        self._stake = min(self._stake + BANDIT_STAKE * forwards, BANDIT_STAKE_MOST)

    def staked(self, lost: float) -> None:
        """A draft was verified, and that much was lost; won, where it is below 0."""
        self._stake = min(self._stake - lost, BANDIT_STAKE_MOST)

    def looked(self, cost: float) -> None:
        """So much was spent on arms that are not drafted with."""
        self._look -= cost

    def bears(self, risk: float) -> bool:
        """Whether so much may be lost now."""
        return risk <= self._stake

    @property
    def curious(self) -> bool:
        """Whether there is something to spend on arms that are not drafted with."""
        return self._look > 0
