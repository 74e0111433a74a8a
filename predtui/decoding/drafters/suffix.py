"""Suffix copying out of everything said so far, in this chat and in earlier ones (as CopySpec, 2025, copies repeats).

A hash of n-grams gives what last followed each; a draft grows token by token, always after the longest n-gram known.
How often that was right is counted over all replies, drafted or not, so that each token comes with its chance.
Must not know of models.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.decoding.draft import Draft, Verification
from predtui.decoding.memory import newest
from predtui.decoding.parts import Parts
from predtui.llm.base import common_prefix

LONGEST, SHORTEST = 6, 1
"""Tokens of the n-grams that are kept."""
CAPACITY, FEWEST = 400_000, 1_000
"""n-grams kept at most, and at least; those that were seen first go first."""
BYTES = 220
"""What an n-gram takes at most."""
_STEADY = 3
"""As often as this an n-gram was followed by the same token, and more often is no surer."""
_PRIOR = 4.0
"""Tokens that are taken for seen at the beginning, by the length of the n-gram."""
_DECAY = 0.995
Kind = tuple[int, int]
"""Of what is known: tokens of the n-gram, and how often in a row the same one followed."""


class SuffixCopy:
    """Remembers contexts from reply to reply, and pays for each token of them once."""

    def __init__(self, longest: int = LONGEST, shortest: int = SHORTEST, capacity: int = CAPACITY) -> None:
        """``capacity``: n-grams that are kept. Raises ValueError unless 1 <= ``shortest`` <= ``longest``."""
        if not 1 <= shortest <= longest:
            raise ValueError(f"n-grams of {shortest} to {longest} tokens")
        self._sizes, self._capacity = range(longest, shortest - 1, -1), capacity
        self._next: dict[tuple[int, ...], tuple[int, int]] = {}
        """What last followed, and how often in a row."""
        self._context: list[int] = []
        self._judged: dict[Kind, tuple[float, float]] = {}
        """How often a kind was right, and how often it was asked, lately."""

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        self._learn(context, len(context) - position)
        recent = list(context[-self._sizes.start :])
        draft: list[int] = []
        chances: list[float] = []
        chance = 1.0
        while len(draft) < budget and (found := self._after(recent)) is not None:
            token, kind = found
            chance *= self._chance(kind)
            draft.append(token)
            chances.append(chance)
            recent = [*recent[-self._sizes.start + 1 :], token] if self._sizes.start > 1 else [token]
        return Draft(tuple(draft), source="suffix", chances=tuple(chances))

    def observe(self, verification: Verification) -> None:
        """The next context says it all."""

    def reset(self) -> None:
        """What was said stays known."""

    def _after(self, recent: Sequence[int]) -> tuple[int, Kind] | None:
        """What last followed the longest known suffix of ``recent``; None where none is known."""
        for size in self._sizes:
            if size <= len(recent) and (known := self._next.get(tuple(recent[-size:]))) is not None:
                return known[0], (size, known[1])
        return None

    def _chance(self, kind: Kind) -> float:
        """How often what is known of this kind was right; before it was asked, the longer the surer."""
        right, asked = self._judged.get(kind, (0.0, 0.0))
        size, times = kind
        return (right + _PRIOR * (size + times) / (size + times + 3)) / (asked + _PRIOR)

    def _learn(self, context: Sequence[int], reply: int) -> None:
        """Whatever is new since the context before; from the index ``reply`` on, first whether it was foreseen."""
        known = common_prefix(self._context, context)
        self._context = list(context)
        for end in range(max(known, 1), len(context)):
            token, before = self._context[end], self._context[max(0, end - self._sizes.start) : end]
            if end >= reply and (found := self._after(before)) is not None:
                right, asked = self._judged.get(found[1], (0.0, 0.0))
                self._judged[found[1]] = (_DECAY * right + (found[0] == token), _DECAY * asked + 1)
            for size in self._sizes:
                if size <= len(before):
                    gram = tuple(before[-size:])
                    last, times = self._next.get(gram, (token, 0))
                    self._next[gram] = (token, min(times + 1, _STEADY) if last == token else 1)
            if len(self._next) > self._capacity - len(self._sizes):
                self._next = newest(self._next, self._capacity // 2)


def make(parts: Parts) -> SuffixCopy:
    """Raises PredtuiError where there is no room for its n-grams."""
    granted = parts.memory.table("suffix", CAPACITY * BYTES, FEWEST * BYTES)
    return SuffixCopy(capacity=granted // BYTES)
