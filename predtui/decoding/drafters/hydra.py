"""Hydra (Ankner et al. 2024): heads that also see the embeddings of the tokens drafted before theirs.

The head of each depth takes the hidden state, the embedding of the token that the target has just chosen, and those of
the path. Where the paper leaves a choice: embeddings are narrowed before they are joined, a residual block follows, and
all heads share the target's own output matrix. Must not know of verification.
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


class Hydra:
    """A state is the target's, with the embeddings of the path behind it."""

    def __init__(self, heads: Heads) -> None:
        """Raises KeyError or ValueError for weights that are none of Hydra's."""
        self.tokens, self._places = heads.tokens, heads.place
        self._output = heads.weight("norm")[:, None] * heads.output
        embedding = normed(heads.weight(EMBEDDING)) * heads.weight("embedding_norm")
        self._embedding = embedding @ heads.matrix("narrow.layers.0")
        self._state_norm = heads.weight("state_norm")
        names = [f"heads.{head}.layers." for head in range(heads.count("heads.{}.layers.0.weight"))]
        self._inputs = [heads.matrix(f"{name}0") for name in names]
        self._blocks = [(heads.matrix(f"{name}1"), heads.weight(f"{name}1.bias")) for name in names]

    def step(self, states: Array, paths: Sequence[Path]) -> tuple[Array, Array] | None:
        """As ``Stepper`` says: one head looks one token further, and there are so many."""
        depth = len(paths[0]) - 1
        if depth >= len(self._inputs):
            return None
        states = normed(states) * self._state_norm if not depth else states
        embedded = self._embedding[self._places([path[-1] for path in paths])]
        states = np.concatenate((states, embedded), axis=1)
        x: Array = states @ self._inputs[depth]
        weight, bias = self._blocks[depth]
        x = x + silu(x @ weight + bias)
        return states, normed(x) @ self._output

    def after(self, hidden: Array, context: Sequence[int], choose: Choose) -> After:
        """As ``Guesser`` says."""
        return Frontier(self, hidden, context[-1], choose)


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError as ``head_draft.make``."""
    return head_draft.make(parts, "hydra", Hydra)
