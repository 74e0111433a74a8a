"""Clover (Xiao et al. 2024): heads applied one after the other, each given what the one before it made of its token.

An augmenting block turns the target's hidden state into one to draft from. Then one regressive block takes a state and
the token that follows it to the next state: the regressive connection. Its attention decoder attends to all that has
been drafted. Where the paper does otherwise: each head has a block of its own there, and all share one here, so that a
draft may be as deep as it is sure; and the block is told, as EAGLE's is here, what followed the same token, and the
same two, when they last stood in the context. Must not know of verification.
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
from predtui.decoding.recall import Recall


class Clover:
    """The gains of norms are part of the matrices behind them, and what is made of each token is known."""

    def __init__(self, heads: Heads) -> None:
        """Raises KeyError or ValueError for weights that are none of Clover's."""
        self.tokens, self._place = heads.tokens, heads.place
        embedding: Array = normed(heads.weight(EMBEDDING)) * heads.weight("embedding_norm")
        told = ("token", "one", "two", "key", "value")
        made: list[Array] = [embedding @ heads.matrix(f"{name}.layers.0") for name in told]
        self._embedded, (self._keys, self._values) = made[:3], made[3:]
        self._first = heads.weight("hidden_norm")[:, None] * heads.matrix("augment.layers.0")
        self._second = heads.matrix("augment.layers.1")
        self._state_norm = heads.weight("state_norm")
        self._query = heads.weight("seen_norm")[:, None] * heads.matrix("query.layers.0")
        self._mixed = heads.matrix("mixed.layers.0")
        self._gate_up = heads.weight("inner_norm")[:, None] * heads.matrix("gate_up.layers.0")
        self._down = heads.matrix("down.layers.0")
        self._output = heads.weight("norm")[:, None] * heads.output
        self._recall = Recall()

    def augmented(self, hidden: Array) -> Array:
        """The state [width] to draft from, out of the target's."""
        x: Array = normed(hidden) @ self._first
        result: Array = x + silu(x @ self._second)
        return result

    def step(self, states: Array, paths: Sequence[Path]) -> tuple[Array, Array]:
        """As ``Stepper`` says."""
        seen = [(path[-1], *self._recall.after(path[1:])) for path in paths]
        x: Array = normed(states) * self._state_norm
        for embedded, tokens in zip(self._embedded, zip(*seen, strict=True), strict=True):
            x += embedded[self._place(tokens)]
        drafted = np.stack([self._place(path) for path in paths])
        x = x + attended(normed(x) @ self._query, self._keys[drafted], self._values[drafted]) @ self._mixed
        gate, up = np.split(normed(x) @ self._gate_up, 2, axis=1)
        x = x + (silu(gate) * up) @ self._down
        return x, normed(x) @ self._output

    def after(self, hidden: Array, context: Sequence[int], choose: Choose) -> After:
        """As ``Guesser`` says."""
        self._recall.read(context)
        return Frontier(self, self.augmented(hidden), context[-1], choose)


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError as ``head_draft.make``."""
    return head_draft.make(parts, "clover", Clover)
