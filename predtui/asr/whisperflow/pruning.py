"""Beam pruning (WhisperFlow, section 4.2.2): what the round before wrote is the reference; while it names the likeliest
token, one hypothesis is enough. Sees tokens alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

Pruning = Literal["off", "step", "forward"]
"""How a reference is matched: not at all, token by token as in the paper, or all of it in one forward."""


class ReferencePruner:
    """Where one hypothesis is in ``reference``. ``skipped`` tokens (marks, special ones) are not matched, since rounds
    differ in them."""

    def __init__(self, reference: Sequence[int], skipped: Collection[int] = ()) -> None:
        self._reference, self._skipped = list(reference), skipped
        self._next: int | None = None
        """The place of the token that is to come; None before the alignment."""

    def opening(self, most: int) -> list[int]:
        """The tokens that may come first, where the reference was written for the same beginning."""
        return self._reference[:most]

    def draft(self, best: int, most: int) -> list[int]:
        """What may be written next, ``best`` first: up to ``most`` tokens of the reference where it has ``best`` next;
        ``best`` alone where it is not matched. Nothing: the search falls back to all its beams."""
        if best not in self._skipped:
            self._next = self._aligned(best) if self._next is None else self._matched(self._next)
        if self._next is not None and self._reference[self._next : self._next + 1] == [best]:
            return self._reference[self._next : self._next + most]
        return [best] if best in self._skipped else []

    def accept(self, tokens: Sequence[int]) -> None:
        """``tokens``, a beginning of what was drafted, are written."""
        if self._next is None:
            aligned = any(token not in self._skipped for token in tokens)
            self._next = len(tokens) if aligned else None
        elif self._reference[self._next : self._next + len(tokens)] == list(tokens):
            self._next += len(tokens)

    def _aligned(self, best: int) -> int:
        """The first place of ``best``; the end where there is none."""
        return self._reference.index(best) if best in self._reference else len(self._reference)

    def _matched(self, place: int) -> int:
        """The first place from ``place`` on whose token is matched."""
        while place < len(self._reference) and self._reference[place] in self._skipped:
            place += 1
        return place
