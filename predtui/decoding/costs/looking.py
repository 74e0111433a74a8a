"""Drafts that are looked at and not verified: of every cheap arm in each forward, and now and then of a dear one.

What it may cost is the bandit's to say. Must not know how arms are chosen to draft with, or what is learnt of them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from predtui.decoding.costs.arms import Arm, Look, Reply
from predtui.decoding.costs.bandit import Bandit
from predtui.decoding.costs.constants import BANDIT_CHEAP, BANDIT_LOOKS
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.draft import Draft

Silence = tuple[int, Draft, float]
"""An arm that had nothing to say, its empty draft, and what asking took, in times of a forward."""


class Looking:
    """The drafts of ``arms`` that are compared with what comes. In ``costs`` the unit is a plain forward."""

    def __init__(self, arms: Sequence[Arm], instrument: Instrument) -> None:
        self._arms, self._instrument = arms, instrument
        self._open: dict[int, Look] = {}
        self._dear, self._left = -1, 0
        """The dear arm that is looked at, and how often it still is."""

    def begin(self) -> None:
        """A reply does."""
        self._open, self._left = {}, 0

    def on(self, arm: int | None, kind: int, draft: Draft) -> None:
        """Look on at a draft that was made, in a context of that kind."""
        if arm is not None and draft.tokens:
            self._open[arm] = Look(arm, kind, draft)

    def off(self, arm: int) -> None:
        """No longer at one of ``arm``, which is drafted with."""
        self._open.pop(arm, None)

    def follow(self, tokens: Sequence[int]) -> list[tuple[Look, int]]:
        """The drafts that did not have all of ``tokens``, which came, each with the first that it had not."""
        found = [(look, look.follow(tokens)) for look in self._open.values()]
        judged = [(look, missing) for look, missing in found if missing is not None]
        for look, _ in judged:
            del self._open[look.arm]
        return judged

    def ended(self) -> list[Look]:
        """The drafts that had all that came until the reply ended."""
        return [look for look in self._open.values() if look.path]

    def at_others(
        self, bandit: Bandit, reply: Reply, asked: Container[int], room: int, position: int, plain: float
    ) -> Iterator[Silence]:
        """At arms that were not ``asked``, as far as ``bandit`` can pay for it; those that had nothing to say."""
        start, forward, spent = self._instrument.now(), self._instrument.costs.seconds(len(reply.context)), 0.0
        costs = [(arm.asking(plain) + arm.unread(reply, forward)) / plain for arm in self._arms]
        dear = {number for number, cost in enumerate(costs) if cost > BANDIT_CHEAP or not self._arms[number].known}
        free = [number for number in bandit.arms if number not in asked and number not in self._open]
        chosen = [number for number in bandit.order_of_looks(reply.kind) if number in free and number not in dear]
        if dear.isdisjoint(self._open) and self._looks_on(bandit, reply, dear.intersection(free), costs, plain):
            took, silence = self._at(self._dear, reply, room, position, plain)
            bandit.looked(took)
            spent += took
            yield from silence
        for number in chosen:
            if bandit.glances(costs[number]):
                took, silence = self._at(number, reply, room, position, plain)
                bandit.glanced(took)
                spent += took
                yield from silence
        bandit.glanced((self._instrument.now() - start) / plain - spent)

    def _looks_on(self, bandit: Bandit, reply: Reply, dear: set[int], costs: Sequence[float], plain: float) -> bool:
        """Whether one of the ``dear`` arms is looked at now: the one that was before, or the most promising."""
        if not self._left and bandit.curious:
            best = bandit.order(reply.kind)[:1]  # it is going to be asked anyway
            promising = bandit.most_promising(reply.kind, dear.difference(best), costs)
            self._dear, self._left = (-1, 0) if promising is None else (promising, BANDIT_LOOKS)
        elif not bandit.curious or self._arms[self._dear].expected_first > BANDIT_CHEAP * plain:
            self._dear = -1
        self._left = max(0, self._left - 1) if self._dear in dear else 0
        return self._dear in dear

    def _at(self, number: int, reply: Reply, room: int, position: int, plain: float) -> tuple[float, list[Silence]]:
        """What that took, and whether it had nothing to say."""
        start, arm = self._instrument.now(), self._arms[number]
        draft = arm.ask(reply, room, position)
        seconds = self._instrument.now() - start
        self.on(number, reply.kind, draft)
        return seconds / plain, [] if draft.tokens else [(number, draft, (seconds - arm.read_s) / plain)]
