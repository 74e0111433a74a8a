"""The frozen options of training heads. Imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass

METHODS = ("medusa", "hydra", "eagle", "clover", "falcon", "chimera")


@dataclass(frozen=True, slots=True)
class Recipe:
    """``depth``: tokens that are drafted in training, each from what was drafted before; ``heads`` and ``blocks`` are
    Medusa's, ``narrow`` (of the width) and ``hydra_heads`` Hydra's, ``inner`` (in widths) EAGLE's, as
    ``clover_inner`` and ``falcon_inner`` are theirs. Falcon drafts ``block`` tokens at once; Chimera attends to
    the last ``reach`` tokens and has ``chimera_heads`` heads, and encoders that are ``narrow``, too. ``vocabulary``:
    the draft vocabulary, the tokens that are commonest in the replies. ``discount``: the weight of each token in the
    loss, relative to the one before it: what is guessed right counts only behind what is."""

    vocabulary: int = 1536
    depth: int = 6
    heads: int = 5
    blocks: int = 2
    hydra_heads: int = 4
    narrow: float = 0.5
    inner: int = 3
    clover_inner: int = 1
    falcon_inner: int = 1
    block: int = 2
    reach: int = 64
    chimera_heads: int = 3
    batch: int = 512
    muon_lr: float = 0.02
    adam_lr: float = 0.004
    decay: float = 0.01
    discount: float = 0.9
    warmup_steps: int = 30
    grad_clip: float = 1.0
    whole: float = 0.75
    """Share of the prompts that are left whole; the others break off, as those that are still being spoken do."""
    replies: int = 4096
    reply_tokens: int = 96
    held_out: int = 64
    """Replies that are not learned from: the quality is measured on their prompts."""
    checkpoint_seconds: float = 30.0

    def rate(self, step: int, progress: float) -> float:
        """Factor on the learning rates: linear warm-up over steps, then linear to 0; ``progress`` is 0 to 1."""
        return min(1.0, (step + 1) / self.warmup_steps) * max(0.0, 1.0 - progress)
