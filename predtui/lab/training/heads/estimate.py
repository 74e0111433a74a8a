"""What a training run is going to take, told before it begins: by the sizes of model and heads, and by how fast this
machine multiplies matrices. Must not know how heads are trained.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch

from predtui.errors import PredtuiError
from predtui.lab.training.heads.config import Recipe
from predtui.lab.training.heads.networks.base import HeadNetwork
from predtui.lab.training.pocket.config import Budget
from predtui.llm.base import LoadedModel
from predtui.llm.memory import ram, told

PROMPT = 64
"""Tokens of a prompt, before any is known."""
ONE_BY_ONE = 4.0
"""How much longer a token takes that is generated with those of other replies than one of a prompt."""
_LARGE = 1024
"""Rows and columns of a product, from which on it is no faster for having more."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """``collecting`` and ``training`` in seconds; ``memory`` in bytes, beside the model's own."""

    replies: int
    collecting: float
    training: float
    memory: int
    kept: str = " and their states"
    """What is collected beside the replies."""

    def line(self) -> str:
        """For a person."""
        before = f"{told_time(self.collecting)} for {self.replies:,} replies{self.kept}, " if self.collecting else ""
        return f"about {before}{told_time(self.training)} of training, {told(self.memory)} of memory beside the model"

    def require(self, remedy: str) -> None:
        """Raises PredtuiError where there is not enough memory; ``remedy``: what to do then."""
        require_memory(self.memory, remedy)


def estimated(loaded: LoadedModel, network: HeadNetwork, recipe: Recipe, budget: Budget, collects: bool) -> Estimate:
    """``collects``: whether replies are still to be collected. Raises PredtuiError where there is not enough memory."""
    weights = sum(weight.numel() for weight in network.parameters())
    speed = rate(network.width, recipe.batch)
    tokens = recipe.replies * (PROMPT + ONE_BY_ONE * recipe.reply_tokens / 2)
    collecting = 2 * loaded.parameters * (tokens + recipe.replies * (PROMPT + recipe.reply_tokens / 2)) / speed
    step = 6 * recipe.batch * network.work(recipe.depth) / speed
    training = 60 * budget.minutes if budget.minutes is not None else step * (budget.steps or 0)
    states = recipe.replies * recipe.reply_tokens * 2 * network.width
    activations = 4 * 3 * recipe.batch * recipe.depth * (len(network.output) + 8 * network.width)
    found = Estimate(recipe.replies, collecting * collects, training, states + 16 * weights + activations)
    found.require("Give a smaller --replies or --vocabulary.")
    return found


def require_memory(memory: int, remedy: str) -> None:
    """Raises PredtuiError where so many bytes are not free; ``remedy``: what to do then."""
    if memory > (free := ram().free):
        raise PredtuiError(f"Training needs about {told(memory)} of memory, and {told(free)} are free.", remedy)


def rate(width: int, rows: int) -> float:
    """Floating-point operations a second in a product of matrices of about a small network's size."""
    rows, width = min(rows, _LARGE), min(width, _LARGE)
    left, right = torch.ones(rows, width), torch.ones(width, 4 * width)
    took = []
    for _ in range(4):
        start = time.perf_counter()
        left @ right
        took.append(time.perf_counter() - start)
    return 2 * left.numel() * 4 * width / max(min(took), 1e-9) / 2  # a step has much beside its products


def told_time(seconds: float) -> str:
    """For a person."""
    return f"{seconds / 3600:.1f} hours" if seconds >= 5400 else f"{max(1, round(seconds / 60))} min"
