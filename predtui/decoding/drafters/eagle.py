"""EAGLE (Li et al. 2024): drafts the target's hidden states one after the other, and the tokens out of these.

A layer takes a state and the embedding of the token that follows it to the next state, from which the target's own
output matrix tells the next token; a drafted state stands for the target's own. The tree is EAGLE-2's, grown by the
draft's own confidence, and the layer has learnt from its own states, as EAGLE-3's has. Where the papers do otherwise:
the layer is a gated feed-forward network without attention, since engines do not tell the states of a prompt for
nothing; and the state is the last one alone. Must not know of verification.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from predtui.decoding import head_draft
from predtui.decoding.base import Drafter
from predtui.decoding.head_draft import After, Choose, Frontier
from predtui.decoding.heads import EMBEDDING, Array, Heads, normed, silu
from predtui.decoding.parts import Parts


class Eagle:
    """The gains of norms are part of the matrices behind them, and what the layer first makes of a token is known."""

    def __init__(self, heads: Heads) -> None:
        """Raises KeyError or ValueError for weights that are none of EAGLE's."""
        self.tokens, self.nbytes, self._places = heads.tokens, heads.nbytes, heads.place
        embedding = normed(heads.weight(EMBEDDING)) * heads.weight("embedding_norm")
        self._embedding = embedding @ heads.weight("token.layers.0.weight").T
        self._state = heads.weight("state_norm")[:, None] * heads.weight("state.layers.0.weight").T
        self._gate_up = heads.weight("inner_norm")[:, None] * heads.weight("gate_up.layers.0.weight").T
        self._down = heads.weight("down.layers.0.weight").T
        self._norm, self._output = heads.weight("norm"), heads.output.T

    def step(self, states: Array, tokens: Sequence[int], depth: int) -> tuple[Array, Array]:
        """As ``Stepper`` says."""
        x = normed(states) @ self._state
        x += self._embedding[self._places(tokens)]
        gate, up = np.split(normed(x) @ self._gate_up, 2, axis=1)
        states = normed(x + (silu(gate) * up) @ self._down) * self._norm
        return states, states @ self._output

    def after(self, hidden: Array, token: int, choose: Choose) -> After:
        """As ``Guesser`` says."""
        return Frontier(self, hidden, token, choose)


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError as ``head_draft.make``."""
    return head_draft.make(parts, "eagle", Eagle)
