"""Jacobi decoding: a block of guessed tokens is chosen anew, all at once, until it no longer changes.

The choices form a system of equations, each token a function of those before it, that a triangular Jacobi iteration
solves exactly (Santilli et al. 2023, section 3.2; PredGen, section 3.4, takes it for its generator). Here the block
slides: what has converged is committed, and stays in the model's cache, while as many fresh guesses join at the end.
Must not know of engines, of text, or of where the tokens go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from predtui.decoding.base import Decoder, DecodingStatistics, Sampler
from predtui.decoding.draft import Verification
from predtui.decoding.parts import Parts
from predtui.llm.base import LanguageModel, Stale, common_prefix, never

BLOCK = 16
"""Tokens chosen in one forward."""


class Jacobi:
    """A lossless ``Decoder``: a token is committed when the sampler chose it after tokens that were all committed.
    That holds for greedy choices, and for sampled ones, since the noise of a position is always the same."""

    def __init__(self, model: LanguageModel, sampler: Sampler, block: int = BLOCK, fill: int | None = None) -> None:
        """``fill`` stands for a token that is not guessed yet; None: the last one before it is repeated. Raises
        ValueError for a block of less than one token; a block of one is autoregressive decoding."""
        if block < 1:
            raise ValueError(f"a block of {block} tokens")
        self.statistics = DecodingStatistics()
        self._model, self._sampler, self._block, self._fill = model, sampler, block, fill

    def generate(
        self,
        tokens: Sequence[int],
        limit: int,
        is_end: Callable[[int], bool],
        stale: Stale = never,
        position: int = 0,
        guesses: Sequence[Sequence[int]] = (),
    ) -> Iterator[int]:
        context, ahead = list(tokens), list(guesses[0] if guesses else ())
        last = len(tokens) + limit
        while len(context) < last:
            room = self._model.context_size - len(context)
            if stale() or room < 0:
                return
            block = min(self._block, last - len(context), room + 1)
            guessed = self._guess(ahead, block - 1, context[-1])
            choices = self._iterate(context, guessed, position + len(context) - len(tokens))
            accepted = common_prefix(guessed, choices)
            chosen = up_to_end(choices[: accepted + 1], is_end)
            self.statistics.count(proposed=len(guessed), accepted=accepted, tokens=len(chosen))
            yield from chosen
            if is_end(chosen[-1]):
                return
            context += chosen
            ahead = choices[accepted + 1 :] + ahead[block:]

    def observe(self, verification: Verification) -> None:
        """It learns nothing."""

    def close(self) -> None:
        """Nothing was started."""

    def _guess(self, ahead: Sequence[int], count: int, before: int) -> list[int]:
        """The first ``count`` of ``ahead``, filled up where they are too few."""
        guessed = list(ahead[:count])
        fill = self._fill if self._fill is not None else guessed[-1] if guessed else before
        return guessed + [fill] * (count - len(guessed))

    def _iterate(self, context: list[int], guessed: list[int], position: int) -> list[int]:
        """One iteration: the choices at ``position`` and after each guessed token, [len(guessed) + 1]."""
        rows = self._model.forward(context + guessed, last=len(guessed) + 1)
        return [self._sampler.choose(row, position + offset) for offset, row in enumerate(rows)]


def up_to_end(tokens: list[int], is_end: Callable[[int], bool]) -> list[int]:
    """``tokens`` up to the first that ends a reply, that one included."""
    return next((tokens[: i + 1] for i, token in enumerate(tokens) if is_end(token)), tokens)


def make(parts: Parts) -> Decoder:
    return Jacobi(parts.target.model, parts.sampler, fill=parts.target.pad)
