"""The frozen options of consistency tuning. Imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to tune. ``block``: tokens of a block; decoding with longer ones profits as well, because what is guessed
    further on never changes a choice before it. ``windows``: blocks in flight over one reply, each at a place of its
    own. ``iterations``: how often a batch of replies is used; every use moves its windows one Jacobi iteration on.
    ``pool``: batches in turn, so that neighbouring steps see different replies. ``discount``: the weight in the loss
    of each guess, relative to the one before it: what is guessed right counts only behind what is.
    """

    block: int = 8
    windows: int = 8
    iterations: int = 6
    pool: int = 8
    batch_tokens: int = 2048
    muon_lr: float = 5e-3
    adam_lr: float = 1e-3
    decay: float = 0.02
    """Of Muon's matrices, as in the pocket's own training."""
    ar_weight: float = 2.0
    discount: float = 0.8
    replay_tokens: int = 1024
    replay_weight: float = 2.0
    """Of the pocket corpus, in each step, for models of the pocket's make: what is tuned alone, forgets."""
    warmup_steps: int = 20
    grad_clip: float = 1.0
    whole: float = 0.5
    """Share of the queries that are left whole; the others are cut to k ~ U[0, L] tokens."""
    reply_tokens: int = 96
    replies: int = 4096
    """Replies to collect where the budget is in steps ..."""
    collecting: float = 0.08
    """... and the share of the time in which they are collected where it is in minutes."""
    checkpoint_seconds: float = 60.0

    def rate(self, step: int, progress: float) -> float:
        """Factor on the learning rates: linear warm-up over steps, then linear to 0; ``progress`` is 0 to 1."""
        return min(1.0, (step + 1) / self.warmup_steps) * max(0.0, 1.0 - progress)
