"""Drafts with whichever other drafter pays: learnt as it decodes, by the bandit of ``costs.bandit``.

Every drafter of the registry that these models can feed is an arm, and doing without is one, too. A drafter need not be
verified to be judged (Not-a-Bandit: Liu et al. 2025): what it proposes is compared with what the reply goes on with,
which costs the draft but no forward. In each forward the arms that are faster than none are asked, the fastest first,
until one has something to say; now and then another one is looked at. What an arm is worth is kept apart for contexts
that repeat themselves, whose last tokens stood before, since copying pays there, and for new ones.

A drafter that is not asked costs nothing but what it observes: whoever is asked observes every forward; the others do,
too, as far as the share of the time lasts that is set aside for it. What follows from the context alone is
caught up with when a drafter is asked. Must not know which drafters there are, or of models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from predtui.decoding.base import Drafter
from predtui.decoding.costs.arms import NEW, REPEATING, Arm, Look, Reply, Unheard
from predtui.decoding.costs.bandit import Bandit
from predtui.decoding.costs.constants import (
    BANDIT_CHEAP,
    BANDIT_HOPE,
    BANDIT_LOOKS,
    BANDIT_REPEATS,
    BANDIT_REPLY,
    BANDIT_WEIGHT,
    FIRST,
    INSTANT,
    LONGEST,
    REMEASURE,
)
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.paced import NOTHING, PacedDrafter
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.parts import Parts
from predtui.errors import PredtuiError
from predtui.llm.rows import ArrayRows
from predtui.registry import DRAFTERS
from predtui.state.events import DrafterFigures

NAME = "auto"
NO_ROWS = ArrayRows(np.zeros((0, 0), np.float32))
OFF = "drafting is off: no drafter is faster here than none"


class Auto(PacedDrafter):
    """Takes the place of the one pace that a single drafter has: each arm has its own, and a guess goes before all."""

    def __init__(self, arms: Sequence[Arm], instrument: Instrument, trees: bool, looks: bool = True) -> None:
        """``looks``: whether a draft that is not verified is followed by tokens that can be compared with it."""
        super().__init__(Unheard(), instrument, trees)
        self.arms, self._bandit, self._looks = arms, Bandit((), 0), looks
        self._reply = Reply(0, [], 0, 0)
        self._usual = BANDIT_REPLY
        """Tokens of a reply, lately."""
        self._chosen: int | None = None
        self._asked_too: list[int] = []
        """Arms that had nothing to say in the present forward."""
        self._look: Look | None = None
        self._looking, self._left = -1, 0
        """The arm that is looked at, and how often it still is."""
        self._spent = self._read = self._idle = 0.0
        """Seconds of the present forward's draft, of reading the prompt in them, and of looking beside it."""
        self._drafted = 0
        """Forwards since one without a draft was measured."""

    def begin(self, context: list[int], limit: int, guess: Sequence[int]) -> None:
        super().begin(context, limit, guess)
        self._bandit.forget()
        self._reply = Reply(self._reply.number + 1, context, limit, self._reply.forwards, len(context))
        self._reply.read(context)
        self._look, self._left = None, 0

    def end(self, tokens: int) -> None:
        super().end(tokens)
        if self._look and self._look.path:
            self._judge(self._look, None)
        for arm in self.arms:
            arm.end(self._reply, tokens)
        self._usual += BANDIT_WEIGHT * (tokens - self._usual)
        if self._reply.debt:
            self._bandit.staked(self._reply.debt / self._plain)

    def streamed(self, tokens: int) -> str:
        for arm in self.arms:
            arm.paced.streamed(tokens)
        return super().streamed(tokens)

    def propose(self, room: int, position: int) -> Draft:
        self._chosen, self._asked_too, self._spent, self._read, self._idle = None, [], 0.0, 0.0, 0.0
        if self._guess:
            return super().propose(room, position)
        plain = self._plain
        if room < 1 or not plain or self._drafted >= 2 * REMEASURE:
            return NOTHING
        if self.arms and not self._bandit.arms:
            self._bandit = Bandit([self._prior(arm, plain) for arm in self.arms], 2)
        start = self._instrument.now()
        draft = self._drafted_by_the_best(room, position, plain)
        self._spent = self._instrument.now() - start
        if self._chosen is None:
            self._bandit.looked((self._spent - self._read) / plain)
        if self._looks and not self._look and (self._left or self._bandit.curious):
            self._look_at_another(room, position, plain)
        return draft

    def observe(self, verification: Verification) -> None:
        chosen, plain, self._reply.forwards = self._chosen, self._plain, self._reply.forwards + 1
        if self._guess:
            super().observe(verification)
        elif chosen is None:
            alone = self._instrument.steady and not verification.draft.tokens
            self._drafted = 0 if alone else self._drafted
        else:
            self._drafted += 1
            self.arms[chosen].paced.observe(verification)
            self._value(chosen, self._reply.kind, verification)
            self._settle(verification, plain)
        if self._asked_too:
            silent = replace(verification, draft=NOTHING, path=(), next_token=verification.tokens[-1])
            for asked in self._asked_too:
                self.arms[asked].paced.observe(silent)
        if plain:
            self._bandit.passed((self._instrument.seconds + self._spent + self._idle) / plain)
        self._follow(verification)
        self._tell(verification, plain)
        if self._bandit.arms and not self._guess:
            self.note = "" if self._bandit.order(NEW) or self._bandit.order(REPEATING) else OFF

    @property
    def drafted_for(self) -> float:
        return super().drafted_for if self._guess else self._spent + self._idle

    def figures(self) -> tuple[DrafterFigures, ...]:
        """Of every arm, drafted with or not."""
        told = {figures.name: figures for figures in super().figures()}
        for number, arm in enumerate(self.arms if self._bandit.arms else ()):
            new, repeating = (self._bandit.value(number, kind) for kind in (NEW, REPEATING))
            told[arm.name] = replace(told.get(arm.name, DrafterFigures(arm.name)), new=new, repeating=repeating)
        return tuple(told.values())

    def _settle(self, verification: Verification, plain: float) -> None:
        """What a draft lost or won; the debt is paid first."""
        seconds = self._spent - self._read + self._verifying(len(verification.draft.tokens))
        lost, reply = seconds - plain * len(verification.tokens), self._reply
        paid = min(max(0.0, -lost), reply.debt)
        reply.debt -= paid
        self._bandit.staked((lost + paid) / plain)

    @property
    def _plain(self) -> float:
        """Seconds of a token without a draft; 0 while that is not known."""
        known = self._instrument.stream.seconds or 1 in self._instrument.costs
        return max(self._instrument.alone(), INSTANT) if known else 0.0

    def _verifying(self, tokens: int) -> float:
        """Seconds of a forward over a draft of so many, and never less than of one without."""
        return max(self._instrument.costs.seconds(tokens + 1), self._plain)

    @property
    def _asked_now(self) -> set[int]:
        """Arms that were asked in the present forward."""
        return {*self._asked_too} if self._chosen is None else {*self._asked_too, self._chosen}

    def _prior(self, arm: Arm, plain: float) -> float:
        """What ``arm`` is worth, as the forwards measured so far have it."""
        tokens = sum(BANDIT_HOPE**accepted for accepted in range(FIRST + 1))
        return tokens / (self._verifying(FIRST) / plain + FIRST * arm.token)

    def _drafted_by_the_best(self, room: int, position: int, plain: float) -> Draft:
        """The draft of the fastest arm that has one; of none that could cost more than can be borne."""
        start = self._instrument.now()
        for arm in self._bandit.order(self._reply.kind):
            began = self._instrument.now()
            short = self._bearable(self.arms[arm], room, began - start - self._read, plain)
            if not short:
                break
            draft = self.arms[arm].ask(self._reply, short, position)
            self._read += self.arms[arm].read_s
            self._reply.debt += self.arms[arm].read_s
            if draft.tokens:
                self._look = None if self._look and self._look.arm == arm else self._look
                self._chosen = arm
                return draft
            self._silent(arm, draft, (self._instrument.now() - began - self.arms[arm].read_s) / plain)
        return NOTHING

    def _bearable(self, arm: Arm, room: int, seconds: float, plain: float) -> int:
        """Tokens of a draft of ``arm`` of which nothing may be accepted, after so many seconds; 0 where none may."""
        room = min(room, LONGEST)
        while room and not self._bandit.bears((seconds + arm.expected(room) + self._verifying(room)) / plain - 1):
            room //= 2
        return room

    def _silent(self, arm: int, draft: Draft, cost: float) -> None:
        """``arm`` has nothing to say; it was worth asking unless the draft is ``NOTHING``."""
        self._asked_too.append(arm)
        if draft is not NOTHING:
            self._bandit.vain(arm, self._reply.kind, cost)

    def _look_at_another(self, room: int, position: int, plain: float) -> None:
        asked = self._asked_now
        if not self._left:
            forward = self._instrument.costs.seconds(len(self._reply.context))
            costs = [(arm.expected(FIRST) + arm.unread(self._reply, forward)) / plain for arm in self.arms]
            best = self._bandit.order(self._reply.kind)[:1]  # it is going to be asked anyway
            looking = self._bandit.most_promising(self._reply.kind, asked.union(best), costs)
            self._looking, self._left = (-1, 0) if looking is None else (looking, BANDIT_LOOKS)
        elif self.arms[self._looking].expected(FIRST) > BANDIT_CHEAP * plain:
            self._looking = -1
        if self._looking < 0 or self._looking in asked:
            self._left = 0
            return
        self._left -= 1
        start = self._instrument.now()
        arm = self.arms[self._looking]
        draft = arm.ask(self._reply, room, position)
        self._idle = self._instrument.now() - start
        self._bandit.looked(self._idle / plain)
        if draft.tokens:
            self._look = Look(self._looking, self._reply.kind, draft)
        else:
            self._silent(self._looking, draft, (self._idle - arm.read_s) / plain)

    def _follow(self, verification: Verification) -> None:
        """Whether the draft that is looked at had what came, and what the context is like after it."""
        if self._look and (missing := self._look.follow(verification.tokens)) is not None:
            self._judge(self._look, missing)
        self._reply.read((*verification.context[1 - BANDIT_REPEATS :], *verification.tokens))

    def _judge(self, look: Look, missing: int | None) -> None:
        """As if its draft had been verified; ``missing``: the token that came in its place, None at a reply's end."""
        self._look = None
        judged = Verification((), look.draft, tuple(look.path), missing, True, NO_ROWS)
        self.arms[look.arm].paced.observe(judged)
        self._value(look.arm, look.kind, judged)

    def _value(self, number: int, kind: int, verification: Verification) -> None:
        """At what such drafts usually take, so that a stall says nothing of an arm; what it takes to read a prompt is
        shared out among the tokens of a reply."""
        arm, proposed, tokens = self.arms[number], len(verification.draft.tokens), len(verification.tokens)
        seconds = arm.paced.drafting(proposed) + arm.heeding + self._verifying(proposed)
        seconds += arm.reading(self._reply) * min(1.0, tokens / max(1.0, self._usual))
        self._bandit.learn(number, kind, tokens, seconds / self._plain)

    def _tell(self, verification: Verification, plain: float) -> None:
        """Whoever was asked observes the forward; the others as long as that can be paid for."""
        asked = self._asked_now
        for number, arm in enumerate(self.arms):
            if number in asked:
                arm.observe(verification)
            elif plain and self._bandit.heeds(arm.heeding / plain):
                self._bandit.heeded(arm.observe(verification) / plain)


def make(parts: Parts) -> PacedDrafter:
    """Of every drafter that ``parts`` can feed. Raises PredtuiError where they feed none."""
    can, instrument = parts.target.abilities, parts.instrument
    arms = [Arm(name, drafter, instrument, can.trees, token) for name, drafter, token in _drafters(parts)]
    if not arms:
        raise PredtuiError("There is no drafter to choose from.", "Choose another --decoder.")
    return Auto(arms, instrument, can.trees, looks=not can.generates)


def _drafters(parts: Parts) -> Iterator[tuple[str, Drafter, float]]:
    """Each drafter that can be made, and what a token of it is thought to take, in times of a forward."""
    from predtui.decoding.assembly import make_drafter

    draft = parts.draft.parameters / max(1, parts.target.parameters) if parts.draft else 0.0
    times = {"draft": draft, "windows": 1.0}
    for name in DRAFTERS.offered():
        if name != NAME:
            try:
                drafter = make_drafter(name, parts)
            except PredtuiError:
                continue
            if not isinstance(drafter, PacedDrafter):
                yield name, drafter, max((times.get(need, 0.0) for need in DRAFTERS[name].needs), default=0.0)
