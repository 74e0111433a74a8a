"""What input-time speculation is asked, and how far it has come. Must not know how it works."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from predtui.llm.base import Stale, never


@dataclass(frozen=True, slots=True)
class Progress:
    """The candidate for the present prompt is ``kept + new``; ``kept + rejected`` is the one that it came out of."""

    kept: tuple[int, ...]
    new: tuple[int, ...]
    rejected: tuple[int, ...]
    ended: bool
    """Whether nothing follows: the model ended the reply, or it is as long as it may be."""
    lossless: bool
    verifying: bool = False
    """Whether ``rejected`` is still to be verified: some of it may be accepted."""
    generated: int = 0
    """Tokens chosen in this turn so far, for whatever prompt: what was not committed of them was wasted."""

    @property
    def tokens(self) -> tuple[int, ...]:
        return self.kept + self.new


def unlimited(_progress: Progress) -> bool:
    """No candidate is long enough before its reply has ended."""
    return False


@dataclass(frozen=True, slots=True)
class Prompt:
    """``tokens``, fewer than the model's context, and how much work they are worth. ``ahead``: the prompt has not come,
    but may. ``spare``: the seconds that its verification may take for nothing. ``enough``: asked after each token,
    whether the candidate need not grow now."""

    tokens: Sequence[int]
    stale: Stale = never
    ahead: bool = False
    spare: float = math.inf
    enough: Callable[[Progress], bool] = unlimited
