"""Parallel Prompt Decoding (Chen et al. 2024): trained prompt tokens behind a context make the target tell what follows
the next token, and what follows that.

A few embeddings are all that is learned. Prompt tokens stand behind the candidates too, so that each forward both
verifies and guesses. Where the paper does otherwise: a token has one embedding, not several whose guesses are averaged,
and the tree is grown anew for each forward out of the chances of its guesses. Must not know of engines, or of
verification.
"""

from __future__ import annotations

from predtui.decoding import soft_draft
from predtui.decoding.base import Drafter
from predtui.decoding.parts import Parts

NAME, RANKS = "ppd", 2


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError as ``soft_draft.make``."""
    return soft_draft.make(parts, NAME, RANKS)
