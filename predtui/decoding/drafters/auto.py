"""Drafts with whichever other drafter pays: learnt as it decodes, by the bandit of ``costs.bandit``.

Every drafter of the registry that these models can feed is an arm, and doing without is one, too. A drafter need not be
verified to be judged (Not-a-Bandit: Liu et al. 2025): what it proposes is compared with what the reply goes on with,
which costs the draft but no forward. Before each forward those are asked that are worth it (``costs.asking``). All of
their drafts make one tree (``costs.pool``), of as many tokens as a longer forward is worth; an arm that says how likely
its tokens are is believed as far as such words came true. At other arms one only looks (``costs.looking``). What an arm
is worth is kept apart for contexts that repeat themselves, whose last tokens stood before, since copying pays there,
for new ones, and for both after a draft of which nothing was accepted.

A drafter that is not asked costs nothing but what it observes: whoever is asked observes every forward; the others do,
too, as far as the share of the time lasts that is set aside for it. What follows from the context alone is
caught up with when a drafter is asked. Must not know which drafters there are, or of models.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from predtui.decoding.base import Drafter
from predtui.decoding.costs.arms import DOUBTFUL, KINDS, NEW, REPEATING, Arm, Look, Prompts, Reply, Unheard
from predtui.decoding.costs.asking import Asking, Round
from predtui.decoding.costs.bandit import Bandit
from predtui.decoding.costs.constants import (
    BANDIT_CHEAP,
    BANDIT_HOPE,
    BANDIT_HOPES,
    BANDIT_REPEATS,
    BANDIT_REPLY,
    BANDIT_WEIGHT,
    REMEASURE,
)
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.looking import Looking
from predtui.decoding.costs.paced import NOTHING, PacedDrafter
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.parts import Parts
from predtui.errors import PredtuiError
from predtui.llm.rows import ArrayRows
from predtui.registry import DRAFTERS
from predtui.state.events import DrafterFigures

NAME = "auto"
HEAD = 0.1
"""Times of a forward that a token of trained heads is thought to take."""
NO_ROWS = ArrayRows(np.zeros((0, 0), np.float32))
OFF = "drafting is off: no drafter is faster here than none"


class Auto(PacedDrafter):
    """Takes the place of the one pace that a single drafter has: each arm has its own, and a guess goes before all."""

    def __init__(self, arms: Sequence[Arm], instrument: Instrument, trees: bool, looks: bool = True) -> None:
        """``looks``: whether a draft that is not verified is followed by tokens that can be compared with it."""
        super().__init__(Unheard(), instrument, trees)
        self.arms, self._bandit, self._may_look = arms, Bandit((), 0), looks
        self._reply = Reply(0, [], 0, 0)
        self._usual = BANDIT_REPLY
        """Tokens of a reply, lately."""
        self._round = Round(self._bandit, self._reply)
        """What arms proposed for the present forward."""
        self._asking = Asking(arms, instrument, self._drafting, trees)
        self._looking = Looking(arms, instrument)
        self._spent = self._idle = 0.0
        """Seconds of the present forward's draft, and of looking beside it."""
        self._drafted = 0
        """Forwards since one without a draft was measured."""

    def begin(self, context: list[int], limit: int, guesses: Sequence[Sequence[int]]) -> None:
        super().begin(context, limit, guesses)
        self._bandit.forget()
        self._reply = Reply(self._reply.number + 1, context, limit, self._reply.forwards, len(context))
        self._reply.read(context)
        self._looking.begin()

    def end(self, tokens: int) -> None:
        super().end(tokens)
        for look in self._looking.ended():
            self._judge(look, None)
        for number, arm in enumerate(self.arms):
            if self._plain and not arm.asked_in(self._reply) and arm.asking(self._plain) <= BANDIT_CHEAP * self._plain:
                self._tell_of_reply(number, tokens)
            arm.end(self._reply, tokens)
        self._usual += BANDIT_WEIGHT * (tokens - self._usual)
        if self._reply.debt:
            self._bandit.staked(self._reply.debt / self._plain)

    def _tell_of_reply(self, arm: int, tokens: int) -> None:
        """Of the whole of it, since some remember what was said, as far as that can be paid for."""
        start = self._instrument.now()
        if self._bandit.glances(self._asking.unread(arm, self._reply) / self._plain):
            self.arms[arm].drafter.reset()
            self.arms[arm].drafter.propose(self._reply.context, 1, tokens)
            self._bandit.glanced((self._instrument.now() - start) / self._plain)

    def streamed(self, tokens: int) -> str:
        for arm in self.arms:
            arm.paced.streamed(tokens)
        return super().streamed(tokens)

    def propose(self, room: int, position: int) -> Draft:
        self._round, self._spent, self._idle = Round(self._bandit, self._reply), 0.0, 0.0
        if self._guess(room).tokens:
            return self._guessed
        plain = self._plain
        if room < 1 or not plain or self._drafted >= 2 * REMEASURE:
            return NOTHING
        if self.arms and not self._bandit.arms:
            self._bandit = Bandit([arm.prior(plain, self._asking.verifying) for arm in self.arms], KINDS)
            self._round = Round(self._bandit, self._reply)
        start = self._instrument.now()
        draft = self._asking.draft(self._round, room, position, plain)
        for number in self._round.drafts:
            self._looking.off(number)
        self._spent = self._instrument.now() - start
        if not draft.tokens:
            self._bandit.looked((self._spent - self._round.read_s) / plain)
        if self._may_look and self._bandit.glances(0.0):
            start, asked = self._instrument.now(), self._round.asked
            for silence in self._looking.at_others(self._bandit, self._reply, asked, room, position, plain):
                self._round.vain(*silence)
            self._idle = self._instrument.now() - start
        return draft

    def observe(self, verification: Verification) -> None:
        plain, self._reply.forwards = self._plain, self._reply.forwards + 1
        if self._guessed.tokens:
            super().observe(verification)
        else:
            self._guesses.follow(verification.tokens)
            self._learn_of_draft(verification, plain)
        if self._round.silent:
            silent = replace(verification, draft=NOTHING, path=(), next_token=verification.tokens[-1])
            for asked in self._round.silent:
                self.arms[asked].paced.observe(silent)
        if plain:
            self._bandit.passed((self._instrument.seconds + self._spent + self._idle) / plain)
        self._follow(verification)
        self._tell(verification, self._round.asked)
        if self._bandit.arms and not self._guessed.tokens:
            self.note = "" if self._bandit.order(NEW) or self._bandit.order(REPEATING) else OFF

    @property
    def drafted_for(self) -> float:
        return self._spent + self._idle

    def _learn_of_draft(self, verification: Verification, plain: float) -> None:
        """Of all that was proposed for a forward, whether it was verified or not."""
        kind, tokens = self._reply.kind, verification.tokens
        looks = [Look(number, kind, draft) for number, draft in self._round.drafts.items()]
        for look in looks:
            missing = look.follow(tokens)
            open_end = missing is None and not look.draft.parents  # what else it says, nobody knows yet
            self._judge(look, missing, len(look.path) / len(look.draft.tokens) if open_end else 1.0)
        lengths = {look.arm: len(look.path) for look in looks}
        for number, hope in self._round.hopes.items():
            others = max((length for other, length in lengths.items() if other != number), default=0)
            self.arms[number].hoped(hope, max(0, lengths[number] - others))
        if verification.draft.tokens:
            self._drafted += 1
            self._reply.doubtful = not verification.path
            self._settle(verification, plain)
        elif self._instrument.steady:
            self._drafted = 0

    def heard(self, verification: Verification) -> None:
        """By as many as can be paid for; the time of such a forward is not that of decoding, and pays for nothing."""
        self._tell(verification, ())

    def figures(self) -> tuple[DrafterFigures, ...]:
        """Of every arm, drafted with or not."""
        told = {figures.name: figures for figures in super().figures()}
        for number, arm in enumerate(self.arms if self._bandit.arms else ()):
            new, repeating = (self._bandit.value(number, kind) for kind in (NEW, REPEATING))
            told[arm.name] = replace(told.get(arm.name, DrafterFigures(arm.name)), new=new, repeating=repeating)
        return tuple(told.values())

    def _settle(self, verification: Verification, plain: float) -> None:
        """What a draft lost or won; the debt is paid first."""
        seconds = self._spent - self._round.read_s + self._asking.verifying(len(verification.draft.tokens))
        lost, reply = seconds - plain * len(verification.tokens), self._reply
        paid = min(max(0.0, -lost), reply.debt)
        reply.debt -= paid
        self._bandit.staked((lost + paid) / plain)

    @property
    def _plain(self) -> float:
        """Seconds of a token without a draft; 0 while that is not known."""
        return self._asking.plain

    def _follow(self, verification: Verification) -> None:
        """Which of the drafts that are looked at had what came, and what the context is like after it."""
        for look, missing in self._looking.follow(verification.tokens):
            self._judge(look, missing)
        self._reply.read((*verification.context[1 - BANDIT_REPEATS :], *verification.tokens))

    def _judge(self, look: Look, missing: int | None, share: float = 1.0) -> None:
        """As if its draft had been verified; ``missing``: the token that came in its place, None where none did.
        ``share``: how much of it was."""
        judged = Verification((), look.draft, tuple(look.path), missing, True, NO_ROWS)
        self.arms[look.arm].paced.observe(judged)
        self._value(look.arm, look.kind, judged, share)

    def _value(self, number: int, kind: int, verification: Verification, share: float) -> None:
        """At what such drafts usually take, so that a stall says nothing of an arm; what it takes to read a prompt is
        shared out among the tokens of a reply."""
        arm, proposed, tokens = self.arms[number], len(verification.draft.tokens), len(verification.tokens)
        arm.kept(share * sum(verification.draft.chances), len(verification.path), kind >= DOUBTFUL)
        seconds = arm.paced.drafting(proposed) + arm.heeding + self._asking.verifying(proposed)
        seconds += arm.reading(self._reply) * min(1.0, tokens / max(1.0, self._usual))
        self._bandit.learn(number, kind, tokens, share * seconds / self._plain)

    def _tell(self, verification: Verification, asked: Collection[int]) -> None:
        """Whoever was asked observes the forward; the others as long as that can be paid for."""
        plain = self._plain
        for number, arm in enumerate(self.arms):
            if number in asked:
                arm.observe(verification)
            elif plain and self._bandit.heeds(arm.heeding / plain):
                self._bandit.heeded(arm.observe(verification) / plain)


def make(parts: Parts) -> PacedDrafter:
    """Of every drafter that ``parts`` can feed. Raises PredtuiError where they feed none."""
    can, instrument = parts.target.abilities, parts.instrument
    draft, arms = Prompts(), []
    for name, drafter, token in _drafters(parts):
        hope = BANDIT_HOPE + sum(more for need, more in BANDIT_HOPES.items() if need in DRAFTERS[name].needs)
        arms.append(Arm(name, drafter, instrument, can.trees, token, draft if token else None, hope))
    if not arms:
        raise PredtuiError("There is no drafter to choose from.", "Choose another --decoder.")
    return Auto(arms, instrument, can.trees, looks=not can.generates)


def _drafters(parts: Parts) -> Iterator[tuple[str, Drafter, float]]:
    """Each drafter that can be made, and what a token of it is thought to take, in times of a forward. One that needs
    hidden states is none unless heads are named for it: telling them makes every forward a little slower. Nor is one
    that needs a part of the model, which takes memory and may take a file, or soft tokens, or that learns for good:
    these are a person's to choose."""
    from predtui.decoding.assembly import make_drafter

    draft = parts.draft.parameters / max(1, parts.target.parameters) if parts.draft else 0.0
    times = {"draft": draft, "windows": 1.0, "hidden": draft or HEAD}
    unused = {"layers", "soft", "idle"} | (set() if parts.heads else {"hidden"})
    names = [name for name in DRAFTERS.offered() if name != NAME and not unused & DRAFTERS[name].needs]
    for number, name in enumerate(names):
        parts.memory.sharing = len(names) - number
        try:
            drafter = make_drafter(name, parts)
        except PredtuiError:
            continue
        if not isinstance(drafter, PacedDrafter):
            yield name, drafter, max((times.get(need, 0.0) for need in DRAFTERS[name].needs), default=0.0)
