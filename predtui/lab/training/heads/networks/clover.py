"""Clover's regressive block, as it is trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from predtui.lab.training.heads.config import Recipe
from predtui.lab.training.heads.networks.base import HeadNetwork, Layers, attended, normed, share_of


class CloverNetwork(HeadNetwork):
    """Learns from its own states, each with what it was given before."""

    def __init__(self, embedding: Tensor, output: Tensor, recipe: Recipe) -> None:
        super().__init__(embedding, output)
        width, narrow, inner = self.width, share_of(self.width, 1 / 2), recipe.clover_inner * self.width
        self.hidden_norm, self.state_norm, self.embedding_norm, self.seen_norm, self.inner_norm, self.norm = (
            nn.Parameter(torch.ones(width)) for _ in range(6)
        )
        self.augment = Layers(nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False))
        self.token, self.one, self.two = (Layers(nn.Linear(width, width, bias=False)) for _ in range(3))
        self.query, self.key, self.value = (Layers(nn.Linear(width, narrow, bias=False)) for _ in range(3))
        self.mixed = Layers(nn.Linear(narrow, width, bias=False))
        self.gate_up = Layers(nn.Linear(width, 2 * inner, bias=False))
        self.down = Layers(nn.Linear(inner, width, bias=False))

    def work(self, depth: int) -> int:
        """Of one block, again for each token."""
        return depth * super().work(1)

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor, before: Tensor) -> Tensor:
        embedding = normed(self.embedding) * self.embedding_norm
        embedded: Tensor = self.token(embedding)[rows]
        embedded = embedded + self.one(embedding)[recalled[..., 0]] + self.two(embedding)[recalled[..., 1]]
        keys, values = self.key(embedding)[rows], self.value(embedding)[rows]
        first, second = self.augment.layers
        x = first(normed(hidden) * self.hidden_norm)
        x = x + functional.silu(second(x))
        told = []
        for depth in range(rows.shape[1]):
            x = normed(x) * self.state_norm + embedded[:, depth]
            query = self.query(normed(x) * self.seen_norm)[:, None]
            x = x + self.mixed(attended(query, keys[:, : depth + 1], values[:, : depth + 1]))[:, 0]
            gate, up = self.gate_up(normed(x) * self.inner_norm).chunk(2, dim=1)
            x = x + self.down(functional.silu(gate) * up)
            told.append(normed(x) * self.norm)
        return torch.stack(told, dim=1) @ self.output.T
