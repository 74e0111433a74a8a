"""Drafts of some of the target's own layers: what a part of it is worth, by what it would have said of replies.

Must not know which layers are left out, or of verification.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from predtui.decoding.base import Sampler
from predtui.decoding.draft import Verification
from predtui.decoding.sampler import Greedy
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
    """A context that ends in a reply, which begins at ``start``; ``chances``: how likely the target thought each of its
    tokens, as logarithms, where chance decides; else nothing."""

    tokens: tuple[int, ...]
    start: int
    chances: tuple[float, ...] = ()

    @property
    def said(self) -> int:
        """Tokens of the reply."""
        return len(self.tokens) - self.start


class Replies:
    """The present reply, as far as it has come from forwards."""

    def __init__(self, sampler: Sampler) -> None:
        self.now = Text((), 0)
        self._sampled = not isinstance(sampler, Greedy)

    def begins(self) -> Text | None:
        """Another reply does: the one before, where there was any."""
        before, self.now = self.now, Text((), 0)
        return before if before.said else None

    def heard(self, verification: Verification) -> None:
        """What follows is known."""
        context, said, rows = verification.context, verification.tokens, verification.rows
        start, chances = (self.now.start, self.now.chances) if self.now.tokens == context else (len(context), ())
        if self._sampled:
            places = [0, *(node + 1 for node in verification.path)]
            chances += tuple(rows[place].logprob(token) for place, token in zip(places, said, strict=False))
        self.now = Text((*context, *said), start, chances)


def kept(part: LanguageModel, text: Text, known: int = 0) -> list[float]:
    """Of each token of the reply behind the first ``known``, how likely it would be accepted if the part drafted there:
    whether it would have said it; where chance decides, by how likely it thinks what the target said. One forward."""
    rows = part.forward(text.tokens[:-1], text.said - known)
    said = [*zip(rows, text.tokens[text.start + known :], strict=True)]
    if not text.chances:
        return [float(row.argmax() == token) for row, token in said]
    chances = zip(said, text.chances[known:], strict=True)
    return [math.exp(min(0.0, row.logprob(token) - chance)) for (row, token), chance in chances]
