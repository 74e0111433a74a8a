"""What the pocket models are shown, and when: copying and worked sums before everything else, judgements after it.

A small model that meets sums, conversions and clock times among hundreds of facts learns the facts and never finds out
how to carry; shown these alone first, it does, and keeps it. So it is with copying, and with quoting part of a request:
of lists and reminders a quarter was right after 70 million tokens, and 70 % after two million more that were mostly
these. Must not know of tokens, batches or models.
"""

from __future__ import annotations

import random

from predtui.lab.training.corpus.compose import (
    sample,
    sample_asked_about,
    sample_chatter,
    sample_computed,
    sample_errand,
    sample_judged,
)
from predtui.lab.training.corpus.copying import copied
from predtui.lab.training.corpus.types import Example

COPIED_POOLS = 6
"""Pools of the target's stream, from the first, that hold words to copy only: about a million tokens."""
ERRAND_POOLS = 12
"""The pools after these are mostly requests that the reply quotes: about 2 million tokens."""
COMPUTED_POOLS = 30
"""The pools after those hold worked replies only: about 6 million tokens."""
ERRANDS = 0.6
"""Share of such requests in their pools; the rest are worked replies."""
COPIED = 0.04
"""Share of words to copy from then on."""
ASKED_ABOUT = 0.12
"""Share, in the whole mixture, of requests about the reply before. What these repeat is a number or a name that is
foretold by nothing else, and as a tenth of the mixture half of them came out wrong."""
CHATTER = 0.12
"""The like of small talk and of what cannot be answered, beside their own shares: each wording is to be known by
itself, and of those that training never showed a quarter was taken for something else."""
JUDGED = 0.8
"""Share of the judgements in what the judge layers are shown; the rest keeps them from spoiling replies."""


WHOLE_MIXTURE = COPIED_POOLS + ERRAND_POOLS + COMPUTED_POOLS
"""The pool from which on the target's stream is the whole mixture: where a model that knows the rest begins."""


def target_lesson(rng: random.Random, pool: int) -> Example:
    """An example for pool number ``pool`` of the target's stream."""
    if pool < COPIED_POOLS or rng.random() < COPIED:
        return copied(rng)
    if pool < COPIED_POOLS + ERRAND_POOLS and rng.random() < ERRANDS:
        return sample_errand(rng)
    if pool < WHOLE_MIXTURE:
        return sample_computed(rng)
    at = rng.random()
    if at < ASKED_ABOUT:
        return sample_asked_about(rng)
    return sample_chatter(rng) if at < ASKED_ABOUT + CHATTER else sample(rng)


def judge_lesson(rng: random.Random, pool: int) -> Example:
    """An example for any pool of the judge layers' stream."""
    return sample_judged(rng) if rng.random() < JUDGED else sample(rng)


def draft_lesson(rng: random.Random, pool: int) -> Example:
    """An example for any pool of the draft's stream: the whole mixture from the start."""
    return sample(rng)
