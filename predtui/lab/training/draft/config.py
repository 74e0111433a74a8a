"""The frozen options of training a draft, and the size that it has where none is given. Imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from predtui.errors import PredtuiError
from predtui.lab.training.pocket.config import Shape

Loss = Literal["tvd++", "tvd", "kl"]
HEAD = 32
"""Width of a head of attention: the draft's width is a multiple."""
LAYERS, NARROWEST, WIDEST = 2, 64, 1024
SHARE = 1 / 20
"""Parameters that a draft may have of the target's, its embeddings among them; the papers' have 1/60 to 1/25."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """``replies``: the target's, of at most ``reply_tokens``, a share ``sampled`` of them at temperature 1, the others
    greedy; of ``prompts`` a share ``whole`` is left whole, and none has more than ``longest`` tokens. ``batch`` in
    replies. ``pretraining``: share of the budget for the next token of those replies; the rest aligns by ``loss``."""

    loss: Loss = "tvd++"
    replies: int = 2048
    reply_tokens: int = 96
    sampled: float = 0.5
    whole: float = 0.75
    longest: int = 512
    held_out: int = 64
    """Replies that are not learned from: the quality is measured on their prompts."""
    batch: int = 32
    pretraining: float = 0.5
    muon_lr: float = 0.02
    adam_lr: float = 0.004
    decay: float = 0.02
    warmup_steps: int = 30
    grad_clip: float = 1.0
    checkpoint_seconds: float = 30.0

    def rate(self, step: int, progress: float) -> float:
        """Factor on the learning rates: linear warm-up over steps, constant for the first half, then linear to 0;
        ``progress`` is 0 to 1."""
        return min(1.0, (step + 1) / self.warmup_steps) * max(0.0, min(1.0, 2.0 - 2.0 * progress))


def shape_for(parameters: int, vocabulary: int, context: int, layers: int = 0, width: int = 0) -> Shape:
    """A draft for a target of so many ``parameters``: of ``layers`` and ``width`` where they are not 0, else as wide as
    ``SHARE`` allows. Raises PredtuiError for a width that is no multiple of ``HEAD``."""
    if width % HEAD:
        raise PredtuiError(f"A draft cannot be {width} wide.", f"Give a multiple of {HEAD} with --width.")

    def sized(hidden: int) -> Shape:
        return Shape(hidden, layers or LAYERS, hidden // HEAD, 3 * hidden, vocabulary, context)

    if width:
        return sized(width)
    widths = range(NARROWEST, WIDEST + 1, NARROWEST)
    return max(
        (sized(w) for w in widths if sized(w).parameters <= SHARE * parameters),
        default=sized(NARROWEST),
        key=lambda shape: shape.hidden,
    )
