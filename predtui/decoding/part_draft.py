"""Drafts of some of the target's own layers: what a part of it is worth, by what it would have said of replies.

Must not know which layers are left out, or of verification.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from predtui.decoding.base import Sampler
from predtui.decoding.draft import Verification
from predtui.llm.base import LanguageModel

LONGEST = 32
"""Tokens of a draft that is reckoned with."""


class Worth(NamedTuple):
    """``speed``: tokens in the time of one forward of the target, with drafts of so many tokens; 1 without any."""

    speed: float
    length: int


def worth(rate: float, share: float) -> Worth:
    """Of a part that says the target's next token with probability ``rate`` at a ``share`` of its cost: the best length
    of a draft by the tokens it is expected to bring, the target's own among them, for the layers that they take."""
    best, tokens, chance = Worth(1.0, 0), 1.0, 1.0
    for length in range(1, LONGEST + 1):
        chance *= rate
        tokens += chance
        best = max(best, Worth(tokens / (1 + share * length), length))
    return best


class Text(NamedTuple):
    """A context that ends in a reply, which begins at ``start``."""

    tokens: tuple[int, ...]
    start: int

    @property
    def said(self) -> int:
        """Tokens of the reply."""
        return len(self.tokens) - self.start


class Replies:
    """The present reply, as far as it has come."""

    def __init__(self) -> None:
        self._context: tuple[int, ...] = ()
        self._start = 0

    @property
    def now(self) -> Text:
        """The present one."""
        return Text(self._context, self._start)

    def begins(self) -> Text | None:
        """Another reply does: the one before, where there was any."""
        before, self._context, self._start = self.now, (), 0
        return before if before.said > 0 else None

    def at(self, context: Sequence[int], position: int) -> None:
        """``context`` ends in ``position`` tokens of the reply."""
        self._start = len(context) - position

    def heard(self, verification: Verification) -> None:
        """What follows is known."""
        if not self._context and not self._start:
            self._start = len(verification.context)
        self._context = (*verification.context, *verification.tokens)


def hits(part: LanguageModel, sampler: Sampler, text: Text, known: int = 0) -> list[bool]:
    """Of each token of the reply behind the first ``known``, whether the part would have said it: in one forward."""
    said = text.tokens[text.start + known :]
    rows = part.forward(text.tokens[:-1], len(said))
    return [
        sampler.choose(row, known + place) == token for place, (row, token) in enumerate(zip(rows, said, strict=True))
    ]
