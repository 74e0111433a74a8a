"""The heads of Medusa, as they are trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from predtui.lab.training.heads.config import Recipe
from predtui.lab.training.heads.networks.base import HeadNetwork, Layers


class MedusaNetwork(HeadNetwork):
    """Heads begin as the target's own output layer: their blocks add nothing."""

    def __init__(self, embedding: Tensor, output: Tensor, recipe: Recipe) -> None:
        super().__init__(embedding, output)
        width = self.width
        self.heads = nn.ModuleList(
            Layers(*(nn.Linear(width, width) for _ in range(recipe.blocks))) for _ in range(recipe.heads)
        )
        for weight in self.parameters():
            nn.init.zeros_(weight)

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor, before: Tensor) -> Tensor:
        told = []
        for head in self.heads:
            x = hidden
            for layer in head.layers:  # type: ignore[union-attr]
                x = x + functional.silu(layer(x))
            told.append(x)
        return torch.stack(told[: rows.shape[1]], dim=1) @ self.output.T
