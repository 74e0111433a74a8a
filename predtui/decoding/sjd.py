"""Speculative Jacobi decoding (Teng et al. 2024): Jacobi decoding whose guesses converge by a probabilistic criterion.

Each guess was drawn from what the model said in the forward before, when the tokens ahead of it were guesses, too. So
it is a draft, and speculative sampling judges it: kept with probability min(1, p / q), else replaced out of the
residual; all guesses after that are drawn anew. The distribution is the target's, exactly. Where the abstract leaves a
gap: text has no neighbours in space, so a fresh guess repeats the token before it, as ``jacobi`` does; and a guess that
is drawn anew is drawn with the noise of its position, so that it stays what it was where the model says about the same.
Must not know of engines, of text, or of where the tokens go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from predtui.decoding.accept import RejectionSampling, verify
from predtui.decoding.base import Decoder, DecodingStatistics, Probabilities, Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.jacobi import BLOCK, Jacobi
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LanguageModel, Stale, never

Guess = tuple[int, Probabilities | None]
"""A token, and the distribution that it was drawn from; None: certain."""


class SpeculativeJacobi:
    """A ``Decoder`` of the target's distribution, though not of the reply that plain sampling gives."""

    def __init__(self, model: LanguageModel, sampler: Sampler, block: int = BLOCK, fill: int | None = None) -> None:
        """As ``Jacobi``. Raises ValueError for a block of less than one token."""
        if block < 1:
            raise ValueError(f"a block of {block} tokens")
        self.statistics = DecodingStatistics()
        self._model, self._sampler, self._block, self._fill = model, sampler, block, fill
        self._rule = RejectionSampling(sampler)

    def generate(
        self,
        tokens: Sequence[int],
        limit: int,
        is_end: Callable[[int], bool],
        stale: Stale = never,
        position: int = 0,
        guesses: Sequence[Sequence[int]] = (),
    ) -> Iterator[int]:
        context, last = list(tokens), position + limit
        ahead: list[Guess] = [(token, None) for token in (guesses[0] if guesses else ())]
        while position < last:
            room = self._model.context_size - len(context)
            if stale() or room < 0:
                return
            block = min(self._block, last - position, room + 1)
            draft = self._draft(ahead[: block - 1], block - 1, context[-1])
            verification = verify(self._model, context, draft, self._rule, position, is_end)
            self.statistics.judged(verification)
            self.statistics.count(len(draft.tokens), len(verification.path), len(verification.tokens))
            yield from verification.tokens
            if is_end(verification.tokens[-1]):
                return
            ahead = self._drawn_anew(verification, position) + ahead[block:]
            context += verification.tokens
            position += len(verification.tokens)

    def observe(self, verification: Verification) -> None:
        """It learns nothing."""

    def close(self) -> None:
        """Nothing was started."""

    def _draft(self, guesses: list[Guess], count: int, before: int) -> Draft:
        """The guesses, filled up to ``count``."""
        fill = self._fill if self._fill is not None else guesses[-1][0] if guesses else before
        guesses = guesses + [(fill, None)] * (count - len(guesses))
        q = np.zeros((count, self._model.vocab_size))
        for row, (token, chances) in zip(q, guesses, strict=True):
            if chances is None:
                row[token] = 1
            else:
                row[:] = chances
        return Draft(tuple(token for token, _ in guesses), q=q, source="sjd")

    def _drawn_anew(self, verification: Verification, position: int) -> list[Guess]:
        """What is guessed to follow the tokens that the forward brought."""
        guesses: list[Guess] = []
        for offset in range(len(verification.tokens), len(verification.draft.tokens) + 1):
            row = verification.rows[offset]
            guesses.append((self._sampler.choose(row, position + offset), self._sampler.probabilities(row)))
        return guesses


def make(parts: Parts) -> Decoder:
    """Where nothing is left to chance, the criterion is that of Jacobi decoding."""
    kind = Jacobi if isinstance(parts.sampler, Greedy) else SpeculativeJacobi
    return kind(parts.target.model, parts.sampler, fill=parts.target.pad)
