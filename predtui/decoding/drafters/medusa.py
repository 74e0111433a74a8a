"""Medusa (Cai et al. 2024): one head for each of the next few tokens, all on the last hidden state.

A head is a few residual blocks, and the tree is what several heads think likely together. Where the abstract leaves a
gap: all heads share the target's own output matrix, in place of one of their own each, which would be most of the
weights; of Medusa's two ways to accept, it is the exact one. No head sees what was drafted before it, nor the token
that the target itself has just chosen. Must not know of verification.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from predtui.decoding import head_draft
from predtui.decoding.base import Drafter
from predtui.decoding.drafters.grow import Options, Path
from predtui.decoding.head_draft import After, Choose
from predtui.decoding.heads import Array, Heads, silu
from predtui.decoding.parts import Parts


class Medusa:
    """All heads together are one product a block, of matrices [heads, width, width]."""

    def __init__(self, heads: Heads) -> None:
        """Raises KeyError or ValueError for weights that are none of Medusa's."""
        self.tokens, self._output = heads.tokens, heads.output
        self.heads, blocks = heads.count("heads.{}.layers.0.weight"), heads.count("heads.0.layers.{}.weight")
        self._blocks = [
            [
                np.stack([heads.weight(f"heads.{head}.layers.{block}.{kind}").T for head in range(self.heads)])
                for kind in ("weight", "bias")
            ]
            for block in range(blocks)
        ]

    def logits(self, hidden: Array) -> Array:
        """[heads, draft vocabulary]: of the tokens behind the next one, by the state [width] behind the last."""
        x = hidden[None, None]
        for weight, bias in self._blocks:
            x = x + silu(x @ weight + bias[:, None])
        logits: Array = x[:, 0] @ self._output
        return logits

    def after(self, hidden: Array, context: Sequence[int], choose: Choose) -> After:
        """As ``Guesser`` says: the same after all paths of one length, so that all is known at once."""
        options = choose(self.logits(hidden), [*range(self.heads)])

        def look(path: Path) -> Options:
            return options[len(path)] if len(path) < len(options) else ()

        return look


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError as ``head_draft.make``."""
    return head_draft.make(parts, "medusa", Medusa)
