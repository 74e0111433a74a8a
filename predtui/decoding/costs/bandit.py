"""Which of several sources to draft with, learnt by a bandit that may never fall far behind doing without.

The worth of an arm is the tokens it brings for the time that plain decoding takes for one, a mean in which the old
counts less and less (discounted UCB: Garivier & Moulines 2011), as in BanditSpec (Hou et al. 2025), which calls the
choice of a drafter a bandit. Four purses hold what it may cost, as in Conservative Bandits (Wu et al. 2016): of the
time of all forwards a fixed share flows into each. A draft is verified only where the first could bear that nothing of
it is accepted; what was won by drafts flows back, up to a bound, so that old gains are not staked. What is only looked
at is paid out of the second, and what arms that are not in use observe out of the third. So what is lost is bounded at
any moment, whatever the arms do. Must not know of models, of drafters or of clocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from predtui.decoding.costs.constants import (
    BANDIT_BOLD,
    BANDIT_CHEAP,
    BANDIT_DECAY,
    BANDIT_FADE,
    BANDIT_GLANCE,
    BANDIT_HEED,
    BANDIT_LOOK,
    BANDIT_LOOK_MOST,
    BANDIT_PRIOR,
    BANDIT_STAKE,
    BANDIT_STAKE_FIRST,
    BANDIT_STAKE_MOST,
    BANDIT_TRUST,
)


class Tally:
    """What one arm brought lately, in tokens and in times of a plain forward."""

    def __init__(self) -> None:
        self.seen = self._tokens = self._cost = 0.0

    def add(self, tokens: float, cost: float) -> None:
        """A draft brought so many tokens for so many times of a plain forward."""
        self.fade(BANDIT_DECAY)
        self.seen += 1
        self._tokens += tokens
        self._cost += cost

    def vain(self, cost: float) -> None:
        """The arm was asked, which took that long, and had nothing to say."""
        self.seen = self.seen * BANDIT_DECAY + 1
        self._cost += cost

    def fade(self, share: float) -> None:
        """Only so much remains of it."""
        self.seen, self._tokens, self._cost = self.seen * share, self._tokens * share, self._cost * share

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
        self._values = [[*priors] for _ in range(kinds)]
        self._orders: list[list[int] | None] = [None] * kinds
        self._stake, self._look, self._glance, self._heed = BANDIT_STAKE_FIRST, 0.0, 0.0, 0.0
        """What may be lost by drafts, and spent on looking at dear arms, at cheap ones, and on having them observe: in
        times of a plain forward."""
        self._trust = 0.0
        """What the fastest arm may lose beyond the stake."""

    def order(self, kind: int) -> Sequence[int]:
        """The arms that are thought to be faster than doing without, the fastest first."""
        order = self._orders[kind]
        if order is None:
            values = self._values[kind]
            order = sorted((arm for arm in self.arms if values[arm] > 1), key=lambda arm: -values[arm])
            self._orders[kind] = order
        return order

    def value(self, arm: int, kind: int) -> float:
        """Its speed there, as a multiple of plain decoding's."""
        return self._values[kind][arm]

    def most_promising(self, kind: int, among: Iterable[int], costs: Sequence[float]) -> int | None:
        """The arm by which most may be gained over the best for what it costs to look at, ``among`` those and of them
        what can be paid for now, for these ``costs`` of all arms in times of a forward; None where there is none."""
        bounds, best = self._bounds(kind), max(self._values[kind], default=1.0)
        gains = {
            arm: (bounds[arm] - best) / max(costs[arm], BANDIT_CHEAP)
            for arm in among
            if costs[arm] <= self._look and bounds[arm] > best
        }
        return max(gains, key=gains.__getitem__, default=None)

    def order_of_looks(self, kind: int) -> list[int]:
        """The arms, first those that may be the best for all that is known."""
        bounds = self._bounds(kind)
        return sorted(self.arms, key=lambda arm: -bounds[arm])

    def _bounds(self, kind: int) -> list[float]:
        """What each arm may be worth at most, for all that is known."""
        seen, values = [tally.seen + BANDIT_PRIOR for tally in self._kinds[kind]], self._values[kind]
        bold = BANDIT_BOLD * max(values, default=1.0) * math.sqrt(math.log(sum(seen) + 1))
        return [value + bold / math.sqrt(count) for value, count in zip(values, seen, strict=True)]

    def learn(self, arm: int, kind: int, tokens: float, cost: float) -> None:
        """A draft of ``arm`` brought so many tokens, or would have, for so many times of a plain forward."""
        self._kinds[kind][arm].add(tokens, cost)
        self._all[arm].add(tokens, cost)
        self._think_again(arm)

    def vain(self, arm: int, kind: int, cost: float) -> None:
        """``arm`` was asked, which took that long, and had nothing to say."""
        self._kinds[kind][arm].vain(cost)
        self._all[arm].vain(cost)
        self._think_again(arm)

    def passed(self, forwards: float) -> None:
        """Time has passed, in times of a plain forward."""
        self._look = min(self._look + BANDIT_LOOK * forwards, BANDIT_LOOK_MOST)
        self._glance = min(self._glance + BANDIT_GLANCE * forwards, BANDIT_STAKE_MOST)
        self._heed = min(self._heed + BANDIT_HEED * forwards, BANDIT_STAKE_MOST)
        self._stake = min(self._stake + BANDIT_STAKE * forwards, BANDIT_STAKE_MOST)

    def staked(self, lost: float) -> None:
        """A draft was verified, and that much was lost; won, where it is below 0. What is won beyond the bound of the
        stake is trusted to the fastest arm, up to a bound of its own, and is what a greater loss is paid from."""
        stake = self._stake - lost
        beyond = max(0.0, stake - BANDIT_STAKE_MOST) or max(min(stake, 0.0), -self._trust)
        self._trust = min(self._trust + beyond, BANDIT_TRUST)
        self._stake = stake - beyond

    def looked(self, cost: float) -> None:
        """So much was spent on arms that are not drafted with."""
        self._look -= cost

    def glances(self, cost: float) -> bool:
        """Whether so much may be spent on looking at a cheap arm now."""
        return cost <= self._glance

    def glanced(self, cost: float) -> None:
        """So much was."""
        self._glance -= cost

    def heeded(self, cost: float) -> None:
        """So much was spent on their observing a forward."""
        self._heed -= cost

    def heeds(self, cost: float) -> bool:
        """Whether so much may be spent on that now."""
        return cost <= self._heed

    def forget(self) -> None:
        """Some of it, since what was learnt long ago is doubtful: an arm that was bad is tried again in the end."""
        for tallies in (self._all, *self._kinds):
            for tally in tallies:
                tally.fade(BANDIT_FADE)
        for arm in self.arms:
            self._think_again(arm)

    def bears(self, risk: float, best: bool = False) -> bool:
        """Whether so much may be lost now; ``best``: by the arm that is thought to be the fastest."""
        return risk <= self._stake + self._trust * best

    @property
    def curious(self) -> bool:
        """Whether there is something to spend on arms that are not drafted with."""
        return self._look > 0

    def _think_again(self, arm: int) -> None:
        """What ``arm`` is worth, after news of it."""
        usual = self._all[arm].value(self._priors[arm])
        for kind, tallies in enumerate(self._kinds):
            self._values[kind][arm] = tallies[arm].value(usual)
        self._orders = [None] * len(self._orders)
