"""EAGLE's layer, as it is trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from predtui.lab.training.heads.config import Recipe
from predtui.lab.training.heads.networks.base import HeadNetwork, Layers, normed


class EagleNetwork(HeadNetwork):
    """Learns from its own states: each is what it made of the one before."""

    def work(self, depth: int) -> int:
        """Of one layer, again for each token."""
        return depth * super().work(1)

    def __init__(self, embedding: Tensor, output: Tensor, recipe: Recipe) -> None:
        super().__init__(embedding, output)
        width, inner = self.width, recipe.inner * self.width
        names = ("state_norm", "embedding_norm", "inner_norm", "norm")
        self.state_norm, self.embedding_norm, self.inner_norm, self.norm = (
            nn.Parameter(torch.ones(width)) for _ in names
        )
        self.state, self.token, self.one, self.two = (Layers(nn.Linear(width, width, bias=False)) for _ in range(4))
        self.gate_up = Layers(nn.Linear(width, 2 * inner, bias=False))
        self.down = Layers(nn.Linear(inner, width, bias=False))

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor, before: Tensor) -> Tensor:
        embedding = normed(self.embedding) * self.embedding_norm
        embedded: Tensor = self.token(embedding)[rows]
        embedded = embedded + self.one(embedding)[recalled[..., 0]] + self.two(embedding)[recalled[..., 1]]
        state, told = hidden, []
        for depth in range(rows.shape[1]):
            x = self.state(normed(state) * self.state_norm) + embedded[:, depth]
            gate, up = self.gate_up(normed(x) * self.inner_norm).chunk(2, dim=1)
            state = normed(x + self.down(functional.silu(gate) * up)) * self.norm
            told.append(state)
        return torch.stack(told, dim=1) @ self.output.T
