"""EAGLE (Li et al. 2024): drafts the target's hidden states one after the other, and the tokens out of these.

A layer takes a state and the embedding of the token that follows it to the next state, from which the target's own
output matrix tells the next token; a drafted state stands for the target's own. The tree is EAGLE-2's, grown by the
draft's own confidence, and the layer has learnt from its own states, as EAGLE-3's has. Where the papers do otherwise:
the layer is a gated feed-forward network without attention, since engines do not tell the states of a prompt for
nothing. What attention would copy, it is told: the embeddings of what followed the same token, and the same two, when
they last stood in the context. Must not know of verification.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from predtui.decoding import head_draft
from predtui.decoding.base import Drafter
from predtui.decoding.drafters.grow import Path
from predtui.decoding.head_draft import After, Choose, Frontier
from predtui.decoding.heads import EMBEDDING, Array, Heads, normed, silu
from predtui.decoding.parts import Parts
from predtui.decoding.recall import Recall


class Eagle:
    """The gains of norms are part of the matrices behind them, and what the layer first makes of a token is known."""

    def __init__(self, heads: Heads) -> None:
        """Raises KeyError or ValueError for weights that are none of EAGLE's."""
        self.tokens, self._place = heads.tokens, heads.place
        embedding = normed(heads.weight(EMBEDDING)) * heads.weight("embedding_norm")
        self._embedded = [embedding @ heads.matrix(f"{name}.layers.0") for name in ("token", "one", "two")]
        self._state = heads.weight("state_norm")[:, None] * heads.matrix("state.layers.0")
        self._gate_up = heads.weight("inner_norm")[:, None] * heads.matrix("gate_up.layers.0")
        self._down = heads.matrix("down.layers.0")
        self._norm, self._output = heads.weight("norm"), heads.output
        self._recall = Recall()

    def step(self, states: Array, paths: Sequence[Path]) -> tuple[Array, Array]:
        """As ``Stepper`` says."""
        seen = [(path[-1], *self._recall.after(path[1:])) for path in paths]
        x = normed(states) @ self._state
        for embedded, tokens in zip(self._embedded, zip(*seen, strict=True), strict=True):
            x += embedded[self._place(tokens)]
        gate, up = np.split(normed(x) @ self._gate_up, 2, axis=1)
        states = normed(x + (silu(gate) * up) @ self._down) * self._norm
        return states, states @ self._output

    def after(self, hidden: Array, context: Sequence[int], choose: Choose) -> After:
        """As ``Guesser`` says."""
        self._recall.read(context)
        return Frontier(self, hidden, context[-1], choose)


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError as ``head_draft.make``."""
    return head_draft.make(parts, "eagle", Eagle)
