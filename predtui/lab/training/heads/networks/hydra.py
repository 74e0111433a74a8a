"""The heads of Hydra, as they are trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from predtui.lab.training.heads.config import Recipe
from predtui.lab.training.heads.networks.base import HeadNetwork, Layers, normed


class HydraNetwork(HeadNetwork):
    """Each head takes a row more than the one before it."""

    def __init__(self, embedding: Tensor, output: Tensor, recipe: Recipe) -> None:
        super().__init__(embedding, output)
        width, narrow = self.width, max(1, int(recipe.narrow * self.width))
        self.state_norm, self.embedding_norm, self.norm = (nn.Parameter(torch.ones(width)) for _ in range(3))
        self.narrow = Layers(nn.Linear(width, narrow, bias=False))
        self.heads = nn.ModuleList(
            Layers(nn.Linear(width + narrow * (head + 1), width, bias=False), nn.Linear(width, width))
            for head in range(recipe.hydra_heads)
        )

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor, before: Tensor) -> Tensor:
        embedded = self.narrow(normed(self.embedding[rows]) * self.embedding_norm)
        state, told = normed(hidden) * self.state_norm, []
        for depth, head in zip(range(rows.shape[1]), self.heads, strict=False):
            state = torch.cat((state, embedded[:, depth]), dim=1)
            x = head.layers[0](state)  # type: ignore[index, operator]
            x = x + functional.silu(head.layers[1](x))  # type: ignore[index, operator]
            told.append(normed(x) * self.norm)
        return torch.stack(told, dim=1) @ self.output.T
