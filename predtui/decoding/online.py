"""What a draft model goes on learning from its target: an adapter over its own last states, in numpy.

Online Speculative Decoding (Liu et al. 2023) trains the draft itself. Here its weights stay as they are, since engines
do not train: a small network takes its last hidden state, its last tokens and what followed the same tokens before in
the context (``Recall``), and moves the logits of what the draft thinks likely. Trained by cross-entropy and AdaGrad on
all that the target said. Must not know of models, of files, or of when there is time to learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from predtui.decoding.heads import Array, normed
from predtui.llm.largest import largest

RANK = 32
"""Width of the adapter."""
LIKELY, COPIES, GRAMS = 16, 2, 3
"""Tokens whose logits may move: the draft's likeliest, and those that are recalled; and tokens that are looked back."""
ROWS = 4096
"""Of each table; tokens, and runs of tokens, that come to the same row share it."""
RATE, EVIDENCE = 0.01, np.float32(1e-5)
"""Of learning; and the squared gradient that each weight starts with. From none, AdaGrad's first steps are whole ones
however small the gradient, and what was hardly likely anywhere is soon not drafted at all."""
_PRIMES = np.array([7919, 104729, 1299709])
_TINY, NEVER = np.float32(1e-8), np.float32(-1e4)

Tokens = npt.NDArray[np.int64]
FIELDS = ("hidden", "grams", "tokens", "base", "copied", "answers")


@dataclass(frozen=True, slots=True)
class Places:
    """Places in texts, at each of which the draft was asked what comes next. ``hidden`` [n, width]: its states;
    ``grams`` [n, 3]: rows of the last token, the last two and three; ``tokens`` [n, 18]: what may come; ``base``
    [n, 19]: their natural log-probabilities, and that of all others together; ``copied`` [n, 18, 2]: whether a token
    is what followed the same token, and the same two, before; ``answers`` [n]: which of ``tokens`` came, -1 for none
    of them."""

    hidden: Array
    grams: Tokens
    tokens: Tokens
    base: Array
    copied: Array
    answers: Tokens

    def __len__(self) -> int:
        return len(self.answers)

    def at(self, index: npt.NDArray[np.int64] | npt.NDArray[np.bool_] | slice) -> Places:
        """Some of them."""
        return Places(*(getattr(self, name)[index] for name in FIELDS))


def joined(parts: Sequence[Places]) -> Places:
    """All of them, behind each other."""
    return Places(*(np.concatenate([getattr(part, name) for part in parts]) for name in FIELDS))


def places(
    logits: Array,
    hidden: Array,
    tails: Sequence[Sequence[int]],
    recalled: Sequence[tuple[int, int]],
    answers: Sequence[int],
) -> Places:
    """Of rows ``logits`` [n, vocab] and ``hidden`` [n, width] of a draft; ``tails``: at least the last three tokens
    before each, where there are as many; ``recalled``: as ``Recall.after`` tells; ``answers``: the tokens that came, -1
    where that is not known."""
    many, every = len(logits), np.arange(len(logits))
    likely = min(LIKELY, logits.shape[1])
    tokens = np.zeros((many, LIKELY + COPIES), np.int64)
    base = np.full((many, LIKELY + COPIES + 1), NEVER, np.float32)
    copied = np.zeros((many, LIKELY + COPIES, COPIES), np.float32)
    highest = logits.max(axis=1, keepdims=True)
    norm = (highest + np.log(np.exp(logits - highest).sum(axis=1, keepdims=True)))[:, 0]
    tokens[:, :likely] = [largest(row, likely) for row in logits]
    base[:, :likely] = np.take_along_axis(logits, tokens[:, :likely], axis=1) - norm[:, None]
    for number, told in enumerate(np.array(recalled, np.int64).reshape(many, COPIES).T):
        same = (tokens == told[:, None]) & (base[:, :-1] > NEVER)
        new = (told >= 0) & ~same.any(axis=1)
        tokens[new, LIKELY + number] = told[new]
        base[new, LIKELY + number] = logits[every[new], told[new]] - norm[new]
        same[new, LIKELY + number] = True
        copied[:, :, number] = same
    base[:, -1] = np.log(np.maximum(1 - np.exp(base[:, :-1]).sum(axis=1), 1e-9))
    right = (tokens == np.array(answers)[:, None]) & (base[:, :-1] > NEVER)
    found = np.where(right.any(axis=1), right.argmax(axis=1), -1)
    return Places(hidden, _rows(tails), tokens, base, copied, found)


class Adapter:
    """``weights``: "state" [width, rank], "grams" [4096, rank], "copy" [rank + 1, 2], "output" [4096, rank]. As long as
    nothing is learnt, nothing is moved."""

    def __init__(self, width: int) -> None:
        """``width``: of the draft's hidden states."""
        # so small that what is learnt keeps mostly to the tokens that it was learnt after
        first = np.random.default_rng(0).standard_normal((width, RANK), np.float32) / np.float32(
            2 * max(1, width) ** 0.5
        )
        shapes = {"grams": (ROWS, RANK), "copy": (RANK + 1, COPIES), "output": (ROWS, RANK)}
        self.weights: dict[str, Array] = {"state": first}
        self.weights |= {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
        self.squares = {name: np.zeros_like(weight) for name, weight in self.weights.items()}
        """Of all gradients so far, summed: AdaGrad's."""

    @property
    def nbytes(self) -> int:
        return 2 * sum(weight.nbytes for weight in self.weights.values())

    def moved(self, seen: Places) -> Array:
        """By how much the logits [n, 18] of ``seen.tokens`` move."""
        return self._forward(seen)[0]

    def loss(self, seen: Places) -> float:
        """Mean cross-entropy in nats."""
        told = chances(seen, self.moved(seen))
        return float(-np.log(told[np.arange(len(seen)), seen.answers] + _TINY).mean())

    def gradients(self, seen: Places) -> dict[str, Array]:
        """Of ``loss``, by the name of the weight; of tables, those of rows as ``rows`` names them."""
        moved, hidden, x, gate, z, output = self._forward(seen)
        error = chances(seen, moved)
        error[np.arange(len(seen)), seen.answers] -= 1
        error = error[:, :-1] / np.float32(len(seen))
        copy = np.einsum("nt,ntc->nc", error, seen.copied)
        dz = np.einsum("nt,ntr->nr", error, output) + copy @ self.weights["copy"][:-1].T
        dx = dz * gate * (1 + x * (1 - gate))
        return {
            "state": hidden.T @ dx,
            "grams": np.repeat(dx, GRAMS, axis=0),
            "copy": np.concatenate([z.T @ copy, copy.sum(axis=0, keepdims=True)]),
            "output": (error[:, :, None] * z[:, None, :]).reshape(-1, RANK),
        }

    def step(self, seen: Places) -> None:
        """Learn of them: each has an answer."""
        rows = {"grams": seen.grams.ravel(), "output": seen.tokens.ravel() % ROWS}
        for name, gradient in self.gradients(seen).items():
            which: Tokens | slice = slice(None)
            if name in rows:
                which, gradient = _summed(rows[name], gradient)
            self.squares[name][which] += np.square(gradient)
            self.weights[name][which] -= RATE * gradient / np.sqrt(self.squares[name][which] + EVIDENCE)

    def _forward(self, seen: Places) -> tuple[Array, Array, Array, Array, Array, Array]:
        hidden = normed(seen.hidden) if seen.hidden.shape[1] else seen.hidden
        x = hidden @ self.weights["state"] + self.weights["grams"][seen.grams].sum(axis=1)
        gate = 0.5 + 0.5 * np.tanh(x / 2)
        z = x * gate
        output = self.weights["output"][seen.tokens % ROWS]
        copy = z @ self.weights["copy"][:-1] + self.weights["copy"][-1]
        moved = np.einsum("ntr,nr->nt", output, z) + np.einsum("ntc,nc->nt", seen.copied, copy)
        return moved, hidden, x, gate, z, output


def chances(seen: Places, moved: Array) -> Array:
    """Probabilities [n, 19] of ``seen.tokens`` and of all others, with logits that are ``moved`` [n, 18]."""
    logits = seen.base.copy()
    logits[:, :-1] += moved
    told: Array = np.exp(logits - logits.max(axis=1, keepdims=True))
    told /= told.sum(axis=1, keepdims=True)
    return told


def _summed(rows: Tokens, gradients: Array) -> tuple[Tokens, Array]:
    """Each of ``rows`` once, with the sum of its ``gradients``."""
    which, inverse = np.unique(rows, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    summed: Array = np.add.reduceat(gradients[order], np.searchsorted(inverse[order], np.arange(len(which))))
    return which, summed


def _rows(tails: Sequence[Sequence[int]]) -> Tokens:
    last = [[0, 0, 0, *(token + 1 for token in tail)][:-4:-1] for tail in tails]
    rows: Tokens = (np.array(last, np.int64).reshape(-1, GRAMS) * _PRIMES).cumsum(axis=1) % ROWS
    return rows
