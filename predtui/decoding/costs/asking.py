"""Which arms are asked before a forward, and the one draft that is made of what they say.

The arms that are faster than none and cost next to nothing are asked, then the others, the fastest first, as long as
what they bring beside the others is worth their time. Must not know what is learnt of drafts, or of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from predtui.decoding.costs.arms import Arm, Reply
from predtui.decoding.costs.bandit import Bandit
from predtui.decoding.costs.constants import BANDIT_BRANCH, BANDIT_CHEAP, BANDIT_FREE, INSTANT, LONGEST
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.paced import NOTHING
from predtui.decoding.costs.pool import Proposal, pooled
from predtui.decoding.costs.scheduler import Scheduler
from predtui.decoding.draft import Draft


@dataclass(slots=True)
class Round:
    """What arms proposed for one forward, by their numbers."""

    bandit: Bandit
    reply: Reply
    drafts: dict[int, Draft] = field(default_factory=dict)
    hopes: dict[int, float] = field(default_factory=dict)
    """Tokens that were hoped for of arms that were asked beside others."""
    silent: list[int] = field(default_factory=list)
    """Arms that had nothing to say."""
    read_s: float = 0.0
    """Seconds that reading the prompt took."""

    @property
    def asked(self) -> set[int]:
        return {*self.silent, *self.drafts}

    def vain(self, arm: int, draft: Draft, cost: float) -> None:
        """``arm`` has nothing to say; it was worth asking unless the draft is ``NOTHING``."""
        self.silent.append(arm)
        if draft is not NOTHING:
            self.bandit.vain(arm, self.reply.kind, cost)


class Asking:
    """Asks ``arms``."""

    def __init__(self, arms: Sequence[Arm], instrument: Instrument, drafting: Scheduler, trees: bool) -> None:
        """``drafting``: says how much of a draft is worth a longer forward. ``trees``: whether the target evaluates
        drafts that branch."""
        self._arms, self._instrument, self._drafting, self._trees = arms, instrument, drafting, trees

    @property
    def plain(self) -> float:
        """Seconds of a token without a draft; 0 while that is not known."""
        known = self._instrument.stream.seconds or 1 in self._instrument.costs
        return max(self._instrument.alone(), INSTANT) if known else 0.0

    def verifying(self, tokens: int) -> float:
        """Seconds of a forward over a draft of so many, and never less than of one without."""
        return max(self._instrument.costs.seconds(tokens + 1), self.plain)

    def unread(self, arm: int, reply: Reply) -> float:
        """Seconds that it needs to read the prompt first; 0 where it has."""
        return self._arms[arm].unread(reply, self._instrument.costs.seconds(len(reply.context)))

    def draft(self, now: Round, room: int, position: int, plain: float) -> Draft:
        """What the fastest arm proposes, with that of those that cost next to nothing, all of them together, and of
        others as long as they are worth more than what there is; of none that could cost more than can be borne, or
        that would have to read the prompt first because a faster one has nothing to say."""
        start, promise, failing, spare = self._instrument.now(), 1.0, 1.0, BANDIT_FREE * plain
        bandit, reply = now.bandit, now.reply
        order = bandit.order(reply.kind)
        proposals: list[tuple[float, Proposal]] = []
        for number in sorted(order, key=lambda number: not self._free(number)):
            arm, best, value = self._arms[number], number == order[0], bandit.value(number, reply.kind)
            free = self._free(number) and arm.asking(plain) <= spare
            hope = failing * (value - 1) if now.drafts else 0.0
            adds = _adds(arm, hope, promise, plain) if self._trees and hope else value > promise
            if not free and (not adds or self.unread(number, reply) > BANDIT_CHEAP * plain):
                continue
            began = self._instrument.now()
            spent = began - start - now.read_s + reply.debt
            if not (short := self._bearable(bandit, arm, room, spent, plain, best)):
                continue
            draft = arm.ask(reply, short, position)
            now.read_s += arm.read_s
            reply.debt += arm.read_s
            took = self._instrument.now() - began - arm.read_s
            spare -= took if free else 0.0
            if not draft.tokens:
                now.vain(number, draft, took / plain)
                continue
            now.drafts[number] = draft
            if hope and not free:
                now.hopes[number] = hope
            proposal = Proposal(draft, arm.chances(draft, reply.doubtful))
            promised = self._promise(arm, proposal, plain) if draft.chances else value
            proposals.append((promised, proposal))
            promise = max(promise, promised)
            failing *= 1 - sum(proposal.chances) / len(draft.tokens)
        return self._together(now, proposals, room, self._instrument.now() - start - now.read_s, plain)

    def _together(
        self, now: Round, proposals: Sequence[tuple[float, Proposal]], room: int, spent: float, plain: float
    ) -> Draft:
        """One draft out of ``proposals``, each with what it promises, which took so long, of as many tokens as are
        worth a longer forward: a tree of all, or, where the target evaluates none, the most promising."""
        if not proposals:
            return NOTHING
        _, best = max(proposals, key=lambda one: one[0])
        draft = pooled([one for _, one in proposals] if self._trees else [best], min(room, LONGEST))
        count = self._drafting.worth(draft.chances, spent)
        trusted = not now.drafts.keys().isdisjoint(now.bandit.order(now.reply.kind)[:1])
        while count and not now.bandit.bears((spent + self.verifying(count)) / plain - 1, trusted):
            count //= 2
        return draft.first(count) if count else NOTHING

    def _promise(self, arm: Arm, proposal: Proposal, plain: float) -> float:
        """How many times as fast as plain decoding it is thought to be, by its own words."""
        count = len(proposal.draft.tokens)
        seconds = arm.paced.drafting(count) + self.verifying(count)
        return (1 + sum(proposal.chances)) / max(seconds / plain, 1.0)

    def _free(self, number: int) -> bool:
        """Whether asking it takes next to no time, however long its draft: it has no model to ask."""
        arm, plain = self._arms[number], self.plain
        return not arm.token and arm.asking(plain) <= BANDIT_FREE * plain

    def _bearable(self, bandit: Bandit, arm: Arm, room: int, seconds: float, plain: float, best: bool) -> int:
        """Tokens of a draft of ``arm`` of which nothing may be accepted, after so many seconds; 0 where none may."""
        room = min(room, LONGEST)
        while room and not bandit.bears((seconds + arm.expected(room) + self.verifying(room)) / plain - 1, best):
            room //= 2
        return room


def _adds(arm: Arm, hope: float, promise: float, plain: float) -> bool:
    """Whether a branch of this arm brings more, for what asking takes, than what is proposed already promises:
    ``hope`` is what it usually brings where that fails."""
    return arm.added(hope) * plain > arm.expected(BANDIT_BRANCH) * promise
