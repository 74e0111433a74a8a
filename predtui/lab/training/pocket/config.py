"""The frozen options of the pocket models: their shapes, the training recipe, the budget of one run.

Imports nothing heavy, so that data workers and the command line start at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Shape:
    """The dimensions of one Llama-architecture model with tied embeddings and as many key as query heads."""

    hidden: int
    layers: int
    heads: int
    ffn: int
    vocab: int = 3072
    context: int = 1024
    rope_theta: float = 10_000.0
    norm_eps: float = 1e-5

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.hidden // self.heads

    @property
    def parameters(self) -> int:
        """Trainable numbers, the tied embedding counted once."""
        layer = 4 * self.hidden**2 + 3 * self.hidden * self.ffn + 2 * self.hidden
        return self.vocab * self.hidden + self.layers * layer + self.hidden


TARGET = Shape(hidden=256, layers=8, heads=4, ffn=768)
JUDGE_LAYERS = 2
"""How many of the target's layers, the uppermost, are trained after the others, and learn to judge.

Whether an answer fits is seen by comparing its words with those that were expected, and what is expected is known in
the last layer of a trained model only: the comparison needs layers above it, that find it standing still.
"""
DRAFT = Shape(hidden=128, layers=2, heads=4, ffn=384)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train; the defaults are what learned the most in twenty minutes of CPU.

    Small batches, because the number of steps is what counts; learning rates far above AdamW's usual ones,
    because Muon takes them; with ``muon_lr`` 0 AdamW has all. ``decay`` is that of Muon's matrices, whose products
    otherwise reach tens of thousands in the residual stream. ``judge_weight`` multiplies the loss of the one label
    token of a yes/no judgement. ``recall_weight`` is that of knowing the present token beside the next one,
    ``surprise_weight`` that of telling in the first layer above those that stand still how unlikely it was to them.
    """

    batch_tokens: int = 3072
    pool_batches: int = 64
    muon_lr: float = 0.02
    adam_lr: float = 4e-3
    decay: float = 0.02
    warmup_steps: int = 40
    hold: float = 0.45
    judge_weight: float = 1.0
    recall_weight: float = 0.0
    surprise_weight: float = 0.0
    grad_clip: float = 1.0
    checkpoint_seconds: float = 120.0

    def rate(self, step: int, progress: float) -> float:
        """Factor on the learning rates: linear warm-up over steps, constant until ``hold``, linear to 0 at the end.

        ``progress`` is the share of the budget that is used, 0 to 1.
        """
        warm = min(1.0, (step + 1) / self.warmup_steps)
        decay = min(1.0, (1.0 - progress) / (1.0 - self.hold))
        return warm * max(0.0, decay)

    def slowed(self, factor: float) -> Recipe:
        """The same at so much of both learning rates."""
        return replace(self, muon_lr=factor * self.muon_lr, adam_lr=factor * self.adam_lr)


TEACHING = Recipe(recall_weight=0.2)
"""How the target's lower layers are trained. What is left of a token in the last of them is what the next one needs:
of rare tokens one in four could be told from it, and the judge layers had nothing to compare with what was expected."""
GENTLER = 0.35
"""Factor on the target's learning rates in a run that begins with a finished model: the full ones first undo what was
learned in the slow last steps, and a short run does not win it back."""
JUDGING = Recipe(muon_lr=0.0, adam_lr=1e-3, judge_weight=10.0, surprise_weight=1.0)
"""How the judge layers are trained: the label of a judgement would drown among the tokens of ordinary replies."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How long to train: exactly one of minutes (the schedule follows the clock) or steps (reproducible)."""

    minutes: float | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        if (self.minutes is None) == (self.steps is None):
            raise ValueError("a training budget is either minutes or steps")

    def progress(self, step: int, seconds: float) -> float:
        """Share of the budget that is used after ``step`` steps and ``seconds`` seconds, 0 to 1."""
        used = step / max(1, self.steps) if self.steps is not None else seconds / max(1e-9, 60 * (self.minutes or 0))
        return min(1.0, used)


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """What a finished run was, for the card: enough to run it again."""

    seed: int
    steps: int
    seconds: float
    tokens: int
    loss: float
    judge_accuracy: float | None
    device: str
    threads: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TrainingRecord:
        """The record that ``dataclasses.asdict`` wrote."""
        return cls(**data)
