"""Chimera's encoders and heads, as they are trained."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from predtui.lab.training.heads.config import Recipe
from predtui.lab.training.heads.networks.base import HeadNetwork, Layers, attended, normed, share_of


class ChimeraNetwork(HeadNetwork):
    """Reads the tokens before, of which it attends to the last ``reach``; each needs the two before it."""

    def __init__(self, embedding: Tensor, output: Tensor, recipe: Recipe) -> None:
        super().__init__(embedding, output)
        width, narrow = self.width, share_of(self.width, recipe.narrow)
        self._reach, self.window = recipe.reach, recipe.reach + 1
        self.state_norm, self.embedding_norm, self.seen_norm, self.head_norm, self.norm = (
            nn.Parameter(torch.ones(width)) for _ in range(5)
        )
        self.far = nn.Parameter(torch.zeros(recipe.reach))
        self.trigram = nn.ModuleList(Layers(nn.Linear(width, narrow, bias=False)) for _ in range(3))
        self.key, self.value = (Layers(nn.Linear(narrow, narrow, bias=False)) for _ in range(2))
        self.state, self.short = (Layers(nn.Linear(size, width, bias=False)) for size in (width, narrow))
        self.query = Layers(nn.Linear(width, narrow, bias=False))
        self.mixed = Layers(nn.Linear(narrow, width, bias=False))
        self.heads = nn.ModuleList(Layers(nn.Linear(width, width)) for _ in range(recipe.chimera_heads))

    def work(self, depth: int) -> int:
        """Of the encoders, for each token before too."""
        read = self.window * sum(weight.numel() for part in (self.key, self.value) for weight in part.parameters())
        return read + depth * super().work(1)

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor, before: Tensor) -> Tensor:
        whole = torch.cat((before, rows), dim=1)
        nothing, unknown = whole < 0, len(self.output)
        whole = whole.masked_fill(nothing, unknown)
        embedding = normed(self.embedding) * self.embedding_norm
        encoded: Tensor = sum(  # type: ignore[assignment]
            functional.embedding(whole[:, 2 - back : whole.shape[1] - back], layer(embedding))
            for back, layer in enumerate(self.trigram)
        )
        encoded, nothing = normed(functional.silu(encoded)), nothing[:, 2:]
        state, newest = self.state(normed(hidden) * self.state_norm), encoded[:, self._reach - 1 :]
        x = state[:, None] + self.short(newest)
        query, bias = self.query(normed(x) * self.seen_norm), self._bias(rows.shape[1])
        bias = bias.masked_fill(nothing[:, None, None], -torch.inf)
        x = x + self.mixed(attended(query, self.key(encoded), self.value(encoded), bias))
        normal, told = normed(x) * self.head_norm, []
        for depth in range(rows.shape[1]):
            head = self.heads[min(depth, len(self.heads) - 1)].layers[0]  # type: ignore[index]
            told.append(functional.silu(head(normal[:, depth])))  # type: ignore[operator]
        return normed(x + torch.stack(told, dim=1)) * self.norm @ self.output.T

    def _bias(self, depth: int) -> Tensor:
        """[depth, reach + depth - 1]: each of the newest tokens attends to itself and those before it."""
        back = torch.arange(self._reach + depth - 1) - torch.arange(depth)[:, None]
        outside = (back < 0) | (back >= self._reach)
        return self.far[back.clamp(0, self._reach - 1)].masked_fill(outside, -torch.inf)
