"""What a chooser among drafters keeps of each, of the present reply, and of a draft that it only looks at.

Must not know how it chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from predtui.decoding.base import Drafter
from predtui.decoding.costs.constants import BANDIT_REPEATS, BANDIT_SLACK, BANDIT_WEIGHT
from predtui.decoding.costs.curve import Line
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.paced import NOTHING, PacedDrafter
from predtui.decoding.draft import Draft, Verification

NEW, REPEATING = range(2)
"""Kinds of contexts."""


class Unheard:
    """A drafter that is told of forwards by somebody else. As a drafter of its own, it has nothing to say."""

    def __init__(self, inner: Drafter | None = None) -> None:
        self._inner = inner

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        return self._inner.propose(context, budget, position) if self._inner else NOTHING

    def observe(self, verification: Verification) -> None:
        """Somebody else tells it."""

    def reset(self) -> None:
        if self._inner:
            self._inner.reset()


class Arm:
    """One drafter. It hears of a reply when it is first asked in it."""

    def __init__(self, name: str, drafter: Drafter, instrument: Instrument, trees: bool, token: float = 0.0) -> None:
        """``token``: what a token of a draft is thought to take before it is measured, in times of a forward."""
        self.name, self.drafter, self.token = name, drafter, token
        self.paced = PacedDrafter(Unheard(drafter), instrument, trees)
        self.read_s = self.heeding = 0.0
        """Seconds that reading the prompt took in the last ask, and that observing a forward takes."""
        self._now, self._asking, self._reading = instrument.now, 0.0, Line()
        self._began = self._forward = 0

    def ask(self, reply: Reply, room: int, position: int) -> Draft:
        """As ``PacedDrafter.propose``; ``NOTHING`` where it was not worth asking."""
        start, read = self._now(), self._began == reply.number
        if not read:
            self.paced.begin(reply.context, reply.limit, ())
            self._began = reply.number
        self.paced.waited(reply.forwards - self._forward)
        self._forward, self.read_s = reply.forwards, 0.0
        draft = self.paced.propose(room, position)
        if draft is NOTHING:
            return draft
        seconds = self._now() - start
        if read:
            self._asking = max(seconds, BANDIT_SLACK * self._asking)
        else:
            self.read_s = max(0.0, seconds - self.paced.drafting(len(draft.tokens) or 1))
            self._reading.add(reply.prompt, self.read_s)
        return replace(draft, source=self.name) if draft.tokens else draft

    def expected(self, tokens: int) -> float:
        """Seconds that a draft of so many may take once it has read the prompt."""
        return self.paced.drafting(tokens) or self._asking

    def reading(self, reply: Reply) -> float:
        """Seconds that it needs to read the prompt; 0 while that is not known."""
        return self._reading.seconds(reply.prompt)

    def unread(self, reply: Reply, forward: float) -> float:
        """The same, where it has not yet; the target is thought to need ``forward``."""
        return 0.0 if self._began == reply.number else self.reading(reply) or self.token * forward

    def observe(self, verification: Verification) -> float:
        """The seconds that took."""
        start = self._now()
        self.drafter.observe(verification)
        seconds = self._now() - start
        self.heeding += BANDIT_WEIGHT * (seconds - self.heeding)
        return seconds

    def end(self, reply: Reply, tokens: int) -> None:
        """The reply has ended after so many tokens."""
        if self._began == reply.number:
            self.paced.end(tokens)


@dataclass(slots=True)
class Reply:
    """The present one; ``forwards`` counts those of all replies."""

    number: int
    context: list[int]
    limit: int
    forwards: int
    prompt: int = 0
    """Tokens of the context at first."""
    known: set[tuple[int, ...]] = field(default_factory=set)
    kind: int = NEW
    debt: float = 0.0
    """Seconds spent on reading the prompt that drafts have not won back yet."""

    def read(self, tokens: Sequence[int]) -> None:
        """These have come; they and the ones before them tell the kind."""
        recent = list(tokens)
        runs = list(zip(*(recent[start:] for start in range(BANDIT_REPEATS)), strict=False))
        self.known.update(runs[:-1])
        if runs:
            self.kind = REPEATING if runs[-1] in self.known else NEW
            self.known.add(runs[-1])


@dataclass(slots=True)
class Look:
    """A draft that is not verified: ``path`` holds the nodes of it that the reply has gone through."""

    arm: int
    kind: int
    draft: Draft
    path: list[int] = field(default_factory=list)

    def follow(self, tokens: Sequence[int]) -> int | None:
        """The token that the draft did not have; None while it has all."""
        for token in tokens:
            node = self.draft.child(self.path[-1] if self.path else -1, token)
            if node < 0:
                return token
            self.path.append(node)
        return None
