"""Hidden Transfer (Wu et al. 2024): in a middle layer, trained matrices foretell the states of tokens to come from that
of the last one; the layers behind it refine them, and the target's own output layer tells the tokens.

Where the paper does otherwise: all states are foretold in one layer, trained by the tokens alone, and the tree is grown
for each forward out of the chances of its guesses. Must not know of engines, or of verification.
"""

from __future__ import annotations

from predtui.decoding import soft_draft
from predtui.decoding.base import Drafter
from predtui.decoding.parts import Parts

NAME, RANKS = "hidden-transfer", 3


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError as ``soft_draft.make``."""
    return soft_draft.make(parts, NAME, RANKS)
