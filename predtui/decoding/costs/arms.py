"""What a chooser among drafters keeps of each, of the present reply, and of a draft that it only looks at.

Must not know how it chooses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from predtui.decoding.base import WIDEST, Drafter
from predtui.decoding.costs.constants import (
    ALMOST,
    BANDIT_ADDED,
    BANDIT_DECAY,
    BANDIT_HOPE,
    BANDIT_LEAST,
    BANDIT_REPEATS,
    BANDIT_SLACK,
    BANDIT_WEIGHT,
    BANDIT_WORDS,
    FIRST,
)
from predtui.decoding.costs.curve import Line
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.paced import NOTHING, PacedDrafter
from predtui.decoding.draft import Draft, Verification

NEW, REPEATING, DOUBTFUL, KINDS = 0, 1, 2, 4
"""Kinds of contexts: new or not, and the same after a draft of which nothing was accepted."""


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


class Prompts:
    """What it takes to read one; shared by arms of which one reads for all, as those with one draft model."""

    def __init__(self) -> None:
        self.line, self.read = Line(), 0
        """Seconds by tokens, and the number of the last reply whose prompt was read."""


class Arm:
    """One drafter. It hears of a reply when it is first asked in it."""

    def __init__(
        self,
        name: str,
        drafter: Drafter,
        instrument: Instrument,
        trees: bool,
        token: float = 0.0,
        prompts: Prompts | None = None,
        hope: float = BANDIT_HOPE,
    ) -> None:
        """``token``: what a token of a draft is thought to take before it is measured, in times of a forward;
        ``prompts``: where others read them, too; ``hope``: how likely a token is thought to be accepted."""
        self.name, self.drafter, self.token, self.hope = name, drafter, token, hope
        self.paced = PacedDrafter(Unheard(drafter), instrument, trees)
        self.read_s = self.heeding = 0.0
        """Seconds that reading the prompt took in the last ask, and that observing a forward takes."""
        self._now, self._asking, self._prompts = instrument.now, 0.0, prompts or Prompts()
        self.known = False
        """Whether what asking it takes was measured."""
        self._began = self._forward = 0
        self._words = [[*BANDIT_WORDS], [*BANDIT_WORDS]]
        """Tokens that were said to be accepted, and were, and the drafts that they are of; doubtful or not."""
        self._added, self._hoped = BANDIT_ADDED

    def ask(self, reply: Reply, room: int, position: int) -> Draft:
        """As ``PacedDrafter.propose``; ``NOTHING`` where it was not worth asking."""
        start, read = self._now(), self._prompts.read == reply.number
        if self._began != reply.number:
            self.paced.begin(reply.context, reply.limit, ())
            self._began = reply.number
        self.paced.waited(reply.forwards - self._forward)
        self._forward, self.read_s = reply.forwards, 0.0
        draft = self.paced.propose(room, position)
        if draft is NOTHING:
            return draft
        seconds = self._now() - start
        if read:
            self.known = True
            self._asking = max(seconds, BANDIT_SLACK * self._asking)
        else:
            self.read_s = max(0.0, seconds - self.paced.drafting(len(draft.tokens) or 1))
            self._prompts.line.add(reply.prompt, self.read_s)
            self._prompts.read = reply.number
        return replace(draft, source=self.name) if draft.tokens else draft

    def expected(self, tokens: int) -> float:
        """Seconds that a draft of so many may take once it has read the prompt."""
        return self.paced.drafting(tokens) or self._asking

    @property
    def expected_first(self) -> float:
        """Seconds of a first draft, once it has read the prompt; 0 while nothing was measured."""
        return self.expected(FIRST)

    def asking(self, plain: float) -> float:
        """The same, and no less than what is thought of it beforehand, where a forward takes ``plain``."""
        return max(self.expected(FIRST), FIRST * self.token * plain)

    def reading(self, reply: Reply) -> float:
        """Seconds that it needs to read the prompt; 0 while that is not known."""
        return self._prompts.line.seconds(reply.prompt)

    def unread(self, reply: Reply, forward: float) -> float:
        """The same, where it has not yet; the target is thought to need ``forward``."""
        return 0.0 if self._prompts.read == reply.number else self.reading(reply) or self.token * forward

    def prior(self, plain: float, verifying: Callable[[int], float]) -> float:
        """What it is worth before anything is seen, in drafts of the length that is best then. ``verifying``: seconds
        of a forward over a draft of so many tokens."""
        tokens, best = 1.0, 0.0
        for length in range(1, WIDEST + 1):
            tokens += self.hope**length
            best = max(best, tokens / (verifying(length) / plain + length * self.token))
        return best

    def chances(self, draft: Draft, doubtful: bool) -> list[float]:
        """Of each token of its draft to be accepted: as it says, as far as such words came true, or as is usual for it.
        ``doubtful`` as in ``Reply``."""
        if draft.chances:
            # To the power by which what is said of a token, on average, becomes what came of it.
            said, kept, drafts = self._words[doubtful]
            kept = max(kept, BANDIT_LEAST)
            power = math.log(kept / (kept + drafts)) / math.log(said / (said + drafts))
            return [min(ALMOST, chance**power) for chance in draft.chances]
        rate, found = min(ALMOST, self.paced.rate), list[float]()
        for node in range(len(draft.tokens)):
            parent = draft.parent(node)
            found.append(rate * (found[parent] if parent >= 0 else 1.0))
        return found

    def kept(self, said: float, accepted: int, doubtful: bool) -> None:
        """Of a draft of which so many tokens were said to be accepted, so many were."""
        if said:
            self._words[doubtful] = [
                BANDIT_DECAY * before + now
                for before, now in zip(self._words[doubtful], (said, accepted, 1.0), strict=True)
            ]

    def added(self, hope: float) -> float:
        """Tokens that it brings beside others, where that is hoped for."""
        return hope * self._added / self._hoped

    def hoped(self, hope: float, added: int) -> None:
        """So many were brought that no other brought, where that was hoped for."""
        self._added = self._added * BANDIT_DECAY + added
        self._hoped = self._hoped * BANDIT_DECAY + hope

    def observe(self, verification: Verification) -> float:
        """The seconds that took."""
        start = self._now()
        self.drafter.observe(verification)
        seconds = self._now() - start
        self.heeding += BANDIT_WEIGHT * (seconds - self.heeding)
        return seconds

    def asked_in(self, reply: Reply) -> bool:
        """Whether it was, and so has heard of it."""
        return self._began == reply.number

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
    repeats: bool = False
    doubtful: bool = False
    """Whether the context repeats itself, and whether nothing was accepted of the last draft."""
    debt: float = 0.0
    """Seconds spent on reading the prompt that drafts have not won back yet."""

    @property
    def kind(self) -> int:
        return (REPEATING if self.repeats else NEW) + DOUBTFUL * self.doubtful

    def read(self, tokens: Sequence[int]) -> None:
        """These have come; they and the ones before them tell the kind."""
        recent = list(tokens)
        runs = list(zip(*(recent[start:] for start in range(BANDIT_REPEATS)), strict=False))
        self.known.update(runs[:-1])
        if runs:
            self.repeats = runs[-1] in self.known
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
        path = self.draft.followed(tokens, self.path[-1] if self.path else -1)
        self.path += path
        return tokens[len(path)] if len(path) < len(tokens) else None
