"""Steps of training heads: the batch of a step is a function of the seed and its number. Must not know of files of
heads, or of prompts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

from predtui.lab.training.cllm.windows import IGNORED
from predtui.lab.training.heads.config import Recipe
from predtui.lab.training.heads.networks.base import HeadNetwork
from predtui.lab.training.heads.states import Batch
from predtui.lab.training.steps import Steps


class Batches(Protocol):
    """What is learned from."""

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """So many lessons, drawn by ``generator``: what a network takes, and what it is to tell."""
        ...


class Training(Steps):
    """One run over ``lessons``; its batches are drawn by ``seed``."""

    def __init__(self, network: HeadNetwork, lessons: Batches, recipe: Recipe, seed: int, path: Path) -> None:
        """``path``: the checkpoint."""
        super().__init__(network, recipe, seed, path)
        self.network, self._lessons, self._recipe = network, lessons, recipe

    def learn(self, generator: torch.Generator, share: float) -> float:
        *given, told = self._lessons.batch(self._recipe.batch, generator)
        logits = self.network(*given)
        loss = loss_of(logits, told[:, : logits.shape[1]], self._recipe.discount)
        torch.autograd.backward(loss)
        return loss.item()


def loss_of(logits: Tensor, told: Tensor, discount: float) -> Tensor:
    """Cross-entropy a token of ``logits`` [batch, depth, n] for ``told`` [batch, depth], later tokens for less."""
    each = functional.cross_entropy(logits.flatten(0, 1), told.flatten(), ignore_index=IGNORED, reduction="none")
    weights = discount ** torch.arange(told.shape[1]) * (told != IGNORED)
    return (each.view_as(told) * weights).sum() / weights.sum().clamp(min=1.0)
