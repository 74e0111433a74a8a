"""What the pocket models are shown, and when: worked sums before everything else.

A small model that meets sums, conversions and clock times among hundreds of facts learns the facts and never finds out
how to carry; shown these alone first, it does, and keeps it. Must not know of tokens, batches or models.
"""

from __future__ import annotations

import random

from predtui.training.corpus.compose import sample, sample_computed
from predtui.training.corpus.types import Example

COMPUTED_POOLS = 30
"""Pools of the target's stream that hold worked replies only: about 6 million tokens."""


def target_lesson(rng: random.Random, pool: int) -> Example:
    """An example for pool number ``pool`` of the target's stream."""
    return sample_computed(rng) if pool < COMPUTED_POOLS else sample(rng)


def draft_lesson(rng: random.Random, pool: int) -> Example:
    """An example for any pool of the draft's stream: the whole mixture from the start."""
    return sample(rng)
