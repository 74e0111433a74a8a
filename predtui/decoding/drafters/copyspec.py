"""CopySpec (Dumitru et al. 2025): the last few tokens are looked up in the whole conversation, and what followed them
is copied.

A hash of the last ``GAMMA`` tokens is rolled forward by each token that is read, and taken back where a conversation
goes another way, so that a token costs as much after ten thousand others as after ten. Where the abstract leaves a gap:
of several places the latest is copied, since a revision is asked for of what was said last; how much is copied, the
paper fixes, and measured costs decide here; what is found is compared with the end, so that a collision of hashes is
no draft. Must not know of models.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.decoding.draft import Draft, Verification
from predtui.decoding.parts import Parts
from predtui.llm.base import common_prefix

GAMMA = 3
"""Tokens that are looked up: with fewer more is found, with more what is found is surer."""
BYTES, FEWEST = 200, 256
"""What a token of the conversation takes at most, and how many must have room."""
_BASE, _MODULUS = 1_000_003, (1 << 61) - 1


class CopySpec:
    """Three integers a token of the present conversation, of the latest ones where there is no room for all."""

    def __init__(self, gamma: int = GAMMA, most: int = 1 << 30) -> None:
        """``most``: tokens that are remembered. Raises ValueError unless ``gamma`` is 1 or more."""
        if gamma < 1:
            raise ValueError(f"gamma must be at least 1, not {gamma}")
        self._gamma, self._oldest = gamma, pow(_BASE, gamma, _MODULUS)
        self._most, self._start = most, 0
        self._begin()

    def _begin(self) -> None:
        """Nothing is remembered; what is from here on begins where ``_start`` says."""
        self._tokens: list[int] = []
        self._hashes: list[int] = []
        """Of the last ``gamma`` tokens, after each token."""
        self._earlier: list[int] = []
        """How many tokens there were when the same hash stood there before, after each token; 0: it never did."""
        self._latest: dict[int, int] = {}
        """Hash → how many tokens there were when it last stood there."""
        self._grows = False
        """Whether the context can only have grown since it was last read."""

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        self._read(context)
        place, gamma = self._earlier[-1] if self._earlier else 0, self._gamma
        if not place or self._tokens[place - gamma : place] != self._tokens[-gamma:]:
            return Draft((), source="copyspec")
        return Draft(tuple(self._tokens[place : place + budget]), source="copyspec")

    def observe(self, verification: Verification) -> None:
        """The next context says it all."""

    def reset(self) -> None:
        """The next reply may be to another conversation: as much of this one as that shares stays known."""
        self._grows = False

    def _read(self, context: Sequence[int]) -> None:
        if (start := self._first(len(context))) != self._start:
            self._start = start
            self._begin()
        context = context[start:] if start else context
        known = len(self._tokens) if self._grows else common_prefix(self._tokens, context)
        while len(self._tokens) > known:
            self._unlearn()
        for index in range(known, len(context)):
            self._learn(context[index])
        self._grows = True

    def _first(self, length: int) -> int:
        """Of a context, the first token that is remembered: half of them go at once, so that few are read again."""
        step = max(1, self._most // 2)
        return max(0, -(-(length - self._most) // step) * step)

    def _learn(self, token: int) -> None:
        """Token ids count from 1 here, so that a 0 in front is not the same as nothing."""
        rolled = (self._hashes[-1] if self._hashes else 0) * _BASE + token + 1
        if len(self._tokens) >= self._gamma:
            rolled -= (self._tokens[-self._gamma] + 1) * self._oldest
        rolled %= _MODULUS
        self._tokens.append(token)
        self._hashes.append(rolled)
        full = len(self._tokens) >= self._gamma
        self._earlier.append(self._latest.get(rolled, 0) if full else 0)
        if full:
            self._latest[rolled] = len(self._tokens)

    def _unlearn(self) -> None:
        """Take the last token back."""
        rolled, place = self._hashes.pop(), self._earlier.pop()
        if len(self._tokens) >= self._gamma:
            if place:
                self._latest[rolled] = place
            else:
                del self._latest[rolled]
        self._tokens.pop()


def make(parts: Parts) -> CopySpec:
    """Raises PredtuiError where there is no room for enough of a conversation."""
    most = parts.target.model.context_size * BYTES
    return CopySpec(most=parts.memory.table("copyspec", most, min(most, FEWEST * BYTES)) // BYTES)
