"""Chimera (Zeng et al. 2024): a light draft that reads all tokens of the context, and the target's last hidden state.

A trigram encoder, for the short range, makes something of each token and the two before it. A full-context encoder
attends to that of all of them, from the state and the newest; residual heads, one a depth and the last for all beyond,
tell the next token. Where the paper does otherwise: the states of earlier tokens are not taken, since engines do not
tell those of a prompt for nothing; and of a long context, the latest tokens are attended to. What is made of a context
is kept as it grows. Must not know of verification.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from predtui.decoding import head_draft
from predtui.decoding.base import Drafter
from predtui.decoding.drafters.grow import Path
from predtui.decoding.head_draft import After, Choose, Frontier
from predtui.decoding.heads import EMBEDDING, Array, Heads, attended, normed, silu
from predtui.decoding.parts import Parts
from predtui.decoding.recall import NOTHING
from predtui.llm.base import common_prefix


class Chimera:
    """A state is the target's, with keys and values of the path behind it. Gains of norms are part of matrices."""

    def __init__(self, heads: Heads) -> None:
        """Raises KeyError or ValueError for weights that are none of Chimera's."""
        self.tokens, self._place = heads.tokens, heads.place
        embedding: Array = normed(heads.weight(EMBEDDING)) * heads.weight("embedding_norm")
        self._trigram = [embedding @ heads.matrix(f"trigram.{back}.layers.0") for back in range(3)]
        self._key_value = np.concatenate([heads.matrix(f"{name}.layers.0") for name in ("key", "value")], axis=1)
        self._state = heads.weight("state_norm")[:, None] * heads.matrix("state.layers.0")
        self._short, self._mixed = heads.matrix("short.layers.0"), heads.matrix("mixed.layers.0")
        self._query = heads.weight("seen_norm")[:, None] * heads.matrix("query.layers.0")
        self._heads = [
            (
                heads.weight("head_norm")[:, None] * heads.matrix(f"{name}.layers.0"),
                heads.weight(f"{name}.layers.0.bias"),
            )
            for name in (f"heads.{head}" for head in range(heads.count("heads.{}.layers.0.weight")))
        ]
        self._output, self._far = heads.weight("norm")[:, None] * heads.output, heads.weight("far")
        self._context: list[int] = []
        self._known = np.zeros((0, self._key_value.shape[1]), np.float32)
        """Keys and values [at most ``len(self._far)``, 2 narrow] of the last tokens of the context."""

    def step(self, states: Array, paths: Sequence[Path]) -> tuple[Array, Array]:
        """As ``Stepper`` says."""
        width, size = len(self._output), self._key_value.shape[1]
        before = self._context[-2:]
        encoded = self._encoded([[*before, *path][-3:] for path in paths])
        states = np.concatenate((states, encoded @ self._key_value), axis=1)
        path = states[:, width:].reshape(len(states), -1, size)
        context = np.broadcast_to(self._known, (len(states), *self._known.shape))
        seen = np.concatenate((context, path), axis=1)[:, -len(self._far) :]
        keys, values = np.split(seen, 2, axis=2)
        x = states[:, :width] + encoded @ self._short
        x = x + attended(normed(x) @ self._query, keys, values, self._far[-seen.shape[1] :]) @ self._mixed
        weight, bias = self._heads[min(len(paths[0]), len(self._heads)) - 1]
        x = x + silu(normed(x) @ weight + bias)
        return states, normed(x) @ self._output

    def after(self, hidden: Array, context: Sequence[int], choose: Choose) -> After:
        """As ``Guesser`` says."""
        self._read(context[:-1])
        return Frontier(self, normed(hidden) @ self._state, context[-1], choose)

    def _read(self, context: Sequence[int]) -> None:
        """Only what is new in the context, if anything of it was known."""
        reach, known = len(self._far), len(self._context)
        if common_prefix(self._context, context) < known:
            known, self._known = 0, self._known[:0]
        whole = [NOTHING, NOTHING, *context]
        new = [whole[place : place + 3] for place in range(max(known, len(context) - reach), len(context))]
        if new:
            self._known = np.concatenate((self._known, self._encoded(new) @ self._key_value))[-reach:]
        self._context = list(context)

    def _encoded(self, trigrams: Sequence[Sequence[int]]) -> Array:
        """[m, narrow] of the last tokens up to each of m; there may be fewer than three of them."""
        total = np.zeros((len(trigrams), self._key_value.shape[0]), np.float32)
        for back, embedded in enumerate(self._trigram):
            tokens = [one[-1 - back] if back < len(one) else NOTHING for one in trigrams]
            total += embedded[self._place(tokens)]
        return normed(silu(total))


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError as ``head_draft.make``."""
    return head_draft.make(parts, "chimera", Chimera)
