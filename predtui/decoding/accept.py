"""Two rules that decide how much of a draft holds, both of no effect on what the target says.

``ExactMatch`` keeps the tokens that the sampler itself chooses: the reply is, token for token, that of autoregressive
decoding with the same seed. ``RejectionSampling`` keeps a token with the probability that speculative sampling gives
it: the reply is another one, out of exactly the same distribution. With the greedy sampler they agree.
Must not know of models or of where drafts come from.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from predtui.decoding.base import Draft, Probabilities, Sampler
from predtui.decoding.sampler import randomness
from predtui.llm.rows import Rows

_REJECTION = 1
"""Stream of the randomness that judges, independent of the one that drafts."""


class Acceptance(Protocol):
    """Walks down a draft as far as it holds."""

    def walk(self, draft: Draft, rows: Rows, position: int) -> tuple[list[int], int]:
        """Indices of the draft's tokens that hold, each a child of the one before, and the token that follows them.

        ``rows``: the target's after the context, then after each of the draft's tokens. ``position`` is that of
        the first token in the reply.
        """
        ...


class ExactMatch:
    """Each token is the target's own choice, so a draft holds as far as it foretells that choice.

    A draft drawn with the same noise as the target (the same sampler at the same position) agrees with it often, even
    at high temperature: both take the argmax of log-probabilities plus one and the same Gumbel noise.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._choose = sampler.choose

    def walk(self, draft: Draft, rows: Rows, position: int) -> tuple[list[int], int]:
        path: list[int] = []
        node = -1
        while True:
            token = self._choose(rows[node + 1], position + len(path))
            node = draft.child(node, token)
            if node < 0:
                return path, token
            path.append(node)


class RejectionSampling:
    """Speculative sampling (Leviathan et al. 2023; Chen et al. 2023), for trees by trying one sibling after another
    (Miao et al. 2023): token x, drawn from q, is kept with probability min(1, p(x) / q(x)); where it is not, p becomes
    the residual max(0, p - q), normalised, for the next sibling or for the token that is drawn in the end."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def walk(self, draft: Draft, rows: Rows, position: int) -> tuple[list[int], int]:
        path: list[int] = []
        while True:
            node = path[-1] if path else -1
            random = randomness(self._sampler.seed, position + len(path), _REJECTION)
            p = self._sampler.probabilities(rows[node + 1])
            for child in draft.children(node):
                token = draft.tokens[child]
                q = _certain(token, p.size) if draft.q is None else draft.q[child]
                if random.random() * q[token] < p[token]:
                    path.append(child)
                    break
                p = _residual(p, q)
            else:
                return path, _drawn(p, random)


def _certain(token: int, size: int) -> Probabilities:
    q = np.zeros(size)
    q[token] = 1
    return q


def _residual(p: Probabilities, q: Probabilities) -> Probabilities:
    """Where p nowhere exceeds q they are equal, and a rejection is a rounding error: p stays."""
    left = np.maximum(p - q, 0)
    total: float = left.sum()
    return left / total if total > 0 else p


def _drawn(p: Probabilities, random: np.random.Generator) -> int:
    mass = np.cumsum(p)
    return int(np.searchsorted(mass, random.random() * mass[-1], side="right"))
