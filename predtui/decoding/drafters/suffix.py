"""Suffix copying out of everything said so far, in this chat and in earlier ones (as CopySpec, 2025, copies repeats).

A hash of n-grams tells what last followed each; a draft grows token by token, always after the longest n-gram known.
Must not know of models.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.decoding.base import Draft, Verification
from predtui.llm.base import common_prefix

LONGEST, SHORTEST = 6, 3
"""Tokens of the n-grams that are kept."""
CAPACITY = 400_000
"""n-grams kept, at about 200 bytes each; the memory begins anew when it is full."""


class SuffixCopy:
    """Remembers contexts from reply to reply, and pays for each token of them once."""

    def __init__(self, longest: int = LONGEST, shortest: int = SHORTEST) -> None:
        """Raises ValueError unless 1 <= ``shortest`` <= ``longest``."""
        if not 1 <= shortest <= longest:
            raise ValueError(f"n-grams of {shortest} to {longest} tokens")
        self._sizes = range(longest, shortest - 1, -1)
        self._next: dict[tuple[int, ...], int] = {}
        self._context: list[int] = []

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        self._learn(context)
        recent = list(context[-self._sizes.start :])
        draft: list[int] = []
        while len(draft) < budget and (token := self._after(recent)) is not None:
            draft.append(token)
            recent = [*recent[-self._sizes.start + 1 :], token] if self._sizes.start > 1 else [token]
        return Draft(tuple(draft), source="suffix")

    def observe(self, verification: Verification) -> None:
        """The next context tells everything."""

    def reset(self) -> None:
        """What was said stays known."""

    def _after(self, recent: list[int]) -> int | None:
        """What last followed the longest known suffix of ``recent``; None where none is known."""
        for size in self._sizes:
            if size <= len(recent) and (token := self._next.get(tuple(recent[-size:]))) is not None:
                return token
        return None

    def _learn(self, context: Sequence[int]) -> None:
        """Whatever is new since the context before."""
        known = common_prefix(self._context, context)
        self._context = list(context)
        if len(self._next) > CAPACITY:
            self._next.clear()
        for end in range(max(known, 1), len(context)):
            for size in self._sizes:
                if size <= end:
                    self._next[tuple(self._context[end - size : end])] = self._context[end]
