"""Choosing a token out of a row: greedy, or sampled with randomness that (seed, position) decides.

Because the noise at a position does not depend on what was evaluated before, speculation commits exactly the tokens
that plain sampling would have chosen. Must not know of models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from predtui.decoding.base import Probabilities, Sampler
from predtui.errors import PredtuiError
from predtui.llm.largest import Places, largest
from predtui.llm.rows import Row

_INDEPENDENT = 2
"""The stream of random numbers of ``Independent``."""
_FEW = 32
"""Tokens that a nucleus is thought to have; where it has more, so many times as many."""
_BELOW_ONE = 1 - 2**-53

Scores = npt.NDArray[np.float64]


class Kept(NamedTuple):
    """``tokens`` [n] that a sampler leaves of ``size``, and their ``scores`` [n]: logits over the temperature."""

    tokens: Places
    scores: Scores
    size: int

    def chosen(self, random: np.random.Generator) -> int:
        """What the noise of a position decides; that of a token does not depend on which others are kept."""
        return int(self.tokens[(self.scores + gumbel(random.random(self.size)[self.tokens])).argmax()])


class Greedy:
    """The likeliest token; the lowest of them where several are equal."""

    seed = 0
    whole = False

    def choose(self, row: Row, position: int) -> int:
        return row.argmax()

    def probabilities(self, row: Row) -> Probabilities:
        certain = np.zeros(row.logits.size)
        certain[row.argmax()] = 1
        return certain


@dataclass(frozen=True, slots=True)
class Seeded:
    """Samples from the softmax of ``logits / temperature``, cut to the ``top_k`` likeliest tokens (0 = all), then to
    the smallest set with probability ``top_p``, then to tokens of at least ``min_p`` times the likeliest's probability.

    Gumbel-max: the argmax of log-probabilities plus Gumbel noise is a sample of the distribution. The noise is a
    counter-based (Philox) function of (seed, position). Raises ValueError for values out of range.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not (self.temperature > 0 and math.isfinite(self.temperature)):
            raise ValueError(f"temperature must be above 0, not {self.temperature}")
        if self.top_k < 0 or not 0 < self.top_p <= 1 or not 0 <= self.min_p <= 1:
            raise ValueError(f"out of range: top_k={self.top_k} (>= 0), top_p={self.top_p}, min_p={self.min_p} (0..1)")

    @property
    def whole(self) -> bool:
        return True

    def choose(self, row: Row, position: int) -> int:
        return self.kept(row).chosen(randomness(self.seed, position))

    def probabilities(self, row: Row) -> Probabilities:
        kept = self.kept(row)
        chances = np.zeros(kept.size)
        chances[kept.tokens] = _softmax(kept.scores)
        return chances

    def kept(self, row: Row) -> Kept:
        """What is not cut off."""
        scores = row.logits.astype(np.float64) / self.temperature
        size, tokens = scores.size, np.arange(scores.size)
        if 0 < self.top_k < size:
            tokens = largest(scores, self.top_k)
            scores = scores[tokens]
        if self.top_p < 1:
            order = _nucleus(scores, self.top_p)
            tokens, scores = tokens[order], scores[order]
        if self.min_p > 0:
            likely = scores >= scores.max() + math.log(self.min_p)
            tokens, scores = tokens[likely], scores[likely]
        return Kept(tokens, scores, size)


class Independent:
    """``Seeded`` that ignores positions: each look draws afresh, as a sampler with a stream of random numbers does.
    Speculation then changes the reply; for benches, which show what position-seeded noise is worth."""

    whole = True

    def __init__(self, position_seeded: Seeded) -> None:
        self._seeded = position_seeded
        self._looks = 0

    @property
    def seed(self) -> int:
        return self._seeded.seed

    def choose(self, row: Row, position: int) -> int:
        self._looks += 1
        return self._seeded.kept(row).chosen(randomness(self.seed, self._looks, _INDEPENDENT))

    def probabilities(self, row: Row) -> Probabilities:
        return self._seeded.probabilities(row)


def sampler(temperature: float, top_k: int = 0, top_p: float = 1.0, min_p: float = 0.0, seed: int = 0) -> Sampler:
    """``Greedy`` at temperature 0, else ``Seeded``. Raises PredtuiError for values out of range."""
    try:
        return Greedy() if temperature == 0 else Seeded(temperature, top_k, top_p, min_p, seed)
    except ValueError as error:
        raise PredtuiError(f"{error}.", "Temperature 0 decodes greedily.") from error


def independent(position_seeded: Sampler) -> Sampler:
    """A sampler of the same distribution whose draws do not depend on positions; a greedy one as it is."""
    return Independent(position_seeded) if isinstance(position_seeded, Seeded) else position_seeded


def foreseen(
    sampler: Sampler, row: Row, position: int, count: int, tokens: Places | None = None
) -> list[tuple[int, float]]:
    """The ``count`` tokens at most that another model is likeliest to choose with this sampler at this position, if it
    says about what ``row`` says, the likeliest first, each with its chance: of a draft. ``tokens`` [n]: those that the
    row is of, where it is of some alone.

    Where noise decides, it is the same for both: its argmax is the likeliest (Gumbel-top-k), and the softmax of scores
    with their noise stands for how sure that is. Raises Unanswered as the row does.
    """
    if isinstance(sampler, Seeded):
        kept = sampler.kept(row)
        at, size = (kept.tokens, kept.size) if tokens is None else (tokens[kept.tokens], int(tokens.max()) + 1)
        scores = kept.scores + gumbel(randomness(sampler.seed, position).random(size)[at])
        weights, first = _softmax(scores), largest(scores, count)
        chances = list(zip(at[first].tolist(), weights[first].tolist(), strict=True))
    else:
        likeliest = row.top(count)
        named = likeliest if tokens is None else tokens[list(likeliest)].tolist()
        chances = [(name, math.exp(row.logprob(token))) for name, token in zip(named, likeliest, strict=True)]
    return [(token, chance) for token, chance in chances if chance > 0]


def gumbel(draws: Scores) -> Scores:
    """Standard Gumbel noise out of uniform ``draws``. Its logarithms take three times as long as drawing: of a large
    vocabulary, only for the tokens that count."""
    noise: Scores = -np.log(-np.log(np.minimum(1 - draws, _BELOW_ONE)))
    return noise


def randomness(seed: int, position: int, stream: int = 0) -> np.random.Generator:
    """The same for the same arguments, independent between any two: counter-based (Philox). ``stream`` 0 is what
    ``choose`` draws from."""
    return np.random.Generator(np.random.Philox(key=seed & (2**64 - 1), counter=[0, 0, position, stream]))


def _nucleus(scores: Scores, top_p: float) -> Places:
    """Of ``scores`` [n] the smallest set with that probability, the likeliest first."""
    weights, count = _softmax(scores), _FEW
    while True:
        order = largest(scores, count)
        before = np.cumsum(weights[order]) - weights[order]
        if len(order) == len(scores) or before[-1] >= top_p:
            return order[before < top_p]
        count *= _FEW


def _softmax(scores: Scores) -> Scores:
    weights = np.exp(scores - scores.max())
    probabilities: Scores = weights / weights.sum()
    return probabilities
