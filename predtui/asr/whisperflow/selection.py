"""Which tokens go on: filters of log-probabilities, and the ranking of a beam search. Sees tokens and scores alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from predtui.asr.whisperflow.ct2_weights import Array
from predtui.asr.whisperflow.decoder import log_softmax


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """What was written after the prompt, without the end, and the sum of its log-probabilities."""

    tokens: tuple[int, ...] = ()
    sum_logprob: float = 0.0

    @property
    def mean_logprob(self) -> float:
        """The end counts too."""
        return self.sum_logprob / (len(self.tokens) + 1)


class SuppressTokens:
    """Tokens that are never written: special ones, timestamps among them."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens = list(tokens)

    def logprobs(self, logits: Array) -> Array:
        """Log-probabilities of ``logits`` [.., vocab], without what is suppressed."""
        scores = log_softmax(logits)
        if self._tokens:
            scores[..., self._tokens] = -np.inf
        return scores


class BeamRanker:
    """The ``width`` likeliest sequences after ``first``; they are over at the token ``end``."""

    def __init__(self, width: int, end: int, first: TokenSequence) -> None:
        self._width, self._end = width, end
        self._ended: list[TokenSequence] = []
        self.beams = [first]
        """Those that go on, likeliest first."""

    @property
    def finished(self) -> bool:
        """Whether one that ended is likelier than all that go on, which only become less likely."""
        best = max((one.sum_logprob for one in self._ended), default=-np.inf)
        return bool(self._ended) and best >= self.beams[0].sum_logprob

    def update(self, logprobs: Array) -> list[int]:
        """One token more, by ``logprobs`` [beams, vocab]; of each new beam, which one it goes on from. An end that is
        less likely than all that go on is none."""
        sums = np.array([one.sum_logprob for one in self.beams], np.float32)
        grown: list[TokenSequence] = []
        sources: list[int] = []
        for beam, token, score in _best(sums[:, None] + logprobs, 2 * self._width):
            if len(grown) == self._width:
                break
            if token == self._end:
                self._ended.append(TokenSequence(self.beams[beam].tokens, score))
            else:
                grown.append(TokenSequence((*self.beams[beam].tokens, token), score))
                sources.append(beam)
        self.beams = grown
        return sources

    def best(self) -> TokenSequence:
        """The likeliest by mean log-probability, of those that ended where there are any."""
        return max(self._ended or self.beams, key=lambda one: one.mean_logprob)


def _best(scores: Array, count: int) -> list[tuple[int, int, float]]:
    """The ``count`` highest of ``scores`` [beams, vocab] as (beam, token, score), best first."""
    flat = scores.ravel()
    count = min(count, flat.size)
    places = np.argpartition(-flat, count - 1)[:count]
    return [(*divmod(int(place), scores.shape[1]), float(flat[place])) for place in places[np.argsort(-flat[places])]]
