"""Prompt lookup decoding (Saxena 2023): what followed the last few tokens where they last occurred, follows again.

Must not know of models.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from predtui.decoding.base import Drafter
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.parts import Parts

LONGEST, SHORTEST = 3, 2
"""Tokens of the n-grams looked up, the longest first."""
_WIDTH = array("i").itemsize


class PromptLookup:
    """Copies the continuation of the latest earlier occurrence of the context's last n tokens."""

    def __init__(self, longest: int = LONGEST, shortest: int = SHORTEST) -> None:
        """Raises ValueError unless 1 <= ``shortest`` <= ``longest``."""
        if not 1 <= shortest <= longest:
            raise ValueError(f"n-grams of {shortest} to {longest} tokens")
        self._sizes = range(longest, shortest - 1, -1)

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        data = array("i", context).tobytes()
        for size in self._sizes:
            if found := _continuation(data, size):
                return Draft(tuple(context[found : found + budget]), source="lookup")
        return Draft((), source="lookup")

    def observe(self, verification: Verification) -> None:
        """The context says it all."""

    def reset(self) -> None:
        """Nothing is remembered."""


def _continuation(data: bytes, size: int) -> int:
    """Index after the latest earlier occurrence of the last ``size`` tokens of ``data``; 0 where there is none."""
    suffix, end = data[-size * _WIDTH :], len(data) - _WIDTH
    while (start := data.rfind(suffix, 0, max(end, 0))) >= 0:
        if start % _WIDTH == 0:
            return start // _WIDTH + size
        end = start + len(suffix) - 1
    return 0


def make(parts: Parts) -> Drafter:
    return PromptLookup()
