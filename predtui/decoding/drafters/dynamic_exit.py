"""DEL (Entezari Zarch et al. 2025): the target's first layers draft; how many, and how much, is chosen by the context.

For each exit a running rate tells how often those layers would have said what the target did, and of all exits and
lengths the one that promises the most tokens for the layers they take is drafted with. A draft ends before that where
the part doubts it. Where the paper does otherwise: it has the states of every layer from each verification, which
engines do not show, so there are a few exits, each a part with a cache of its own, and now and then all of them read
what was replied since, in one forward each, at first after few tokens. Must not know of verification.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from predtui.decoding.base import Drafter, Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.model import ModelDrafter
from predtui.decoding.part_draft import Replies, Worth, kept, worth
from predtui.decoding.parts import Parts
from predtui.llm.base import LanguageModel
from predtui.llm.layers import has_layers

NAME = "del"
EXITS = 3
"""Of as many sizes, evenly apart."""
FIRST, MOST = 12, 96
"""Tokens of replies until the parts read them, which double each time, up to the most."""
DECAY = 0.99
"""What remains of the rate of an exit after a token."""


class Exit:
    """A part, and how often it would have said what the target did."""

    def __init__(self, part: LanguageModel, share: float) -> None:
        """``share``: of the target's layers."""
        self.part, self._share = part, share
        self._kept, self._told = 1.0, 2.0

    def learn(self, told: Sequence[float]) -> None:
        """``told``: how likely each of some tokens would be accepted, if it drafted them."""
        for chance in told:
            self._kept, self._told = DECAY * self._kept + chance, DECAY * self._told + 1

    @property
    def worth(self) -> Worth:
        """What it promises."""
        return worth(self._kept / self._told, self._share)


class ExitDrafter:
    """Has nothing to propose before the parts have read something, and where none promises to pay."""

    def __init__(
        self, parts: Mapping[int, LanguageModel], layers: int, sampler: Sampler, is_end: Callable[[int], bool]
    ) -> None:
        """``parts``: by the layers before their exit, of so many ``layers``; ``is_end``: after which tokens a draft
        ends."""
        self._sampler, self._is_end = sampler, is_end
        self._exits = [Exit(part, count / layers) for count, part in parts.items()]
        self._replies = Replies(sampler)
        self._known = 0
        """Tokens of the present reply that the parts have read."""
        self._unread, self._interval = 0, FIRST
        self._chosen: Exit | None = None

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        """At most as many tokens as promise to pay."""
        if self._chosen is None:
            return Draft((), source=NAME)
        drafter = ModelDrafter(self._chosen.part, self._sampler, self._is_end, source=NAME)
        return drafter.propose(context, min(budget, self._chosen.worth.length), position)

    def observe(self, verification: Verification) -> None:
        """Now and then the parts read what was replied."""
        self._replies.heard(verification)
        self._unread += len(verification.tokens)
        if self._unread >= self._interval:
            self._read()

    def reset(self) -> None:
        """The rates stay."""
        self._replies.begins()
        self._known = 0

    def _read(self) -> None:
        text = self._replies.now
        if (size := text.said) <= self._known or len(text.tokens) > min(one.part.context_size for one in self._exits):
            return
        for one in self._exits:
            one.learn(kept(one.part, text, self._known))
        best = max(self._exits, key=lambda one: one.worth.speed)
        self._chosen = best if best.worth.length else None
        self._known, self._unread, self._interval = size, 0, min(2 * self._interval, MOST)


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError where the parts cannot be opened, or have no room."""
    target = parts.target
    assert has_layers(target.model), "assembly has seen to it"
    layers, found = target.abilities.layers, dict[int, LanguageModel]()
    for count in sorted({max(1, layers * number // (EXITS + 1)) for number in range(1, EXITS + 1)}):
        parts.memory.fixed("What del drafts with", target.model.part_bytes(range(count)))
        found[count] = target.model.part(range(count))
    return ExitDrafter(found, layers, parts.sampler, target.tokenizer.is_end)
