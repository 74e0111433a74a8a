"""Falcon's layers, as they are trained: with coupled sequential glancing distillation."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from predtui.lab.training.heads.config import Recipe
from predtui.lab.training.heads.networks.base import HeadNetwork, Layers, attended, normed, share_of


class FalconNetwork(HeadNetwork):
    """Where a block begins with what the target would not say, every second time the rest of it learns from what the
    target says instead: the more, the more is wrong."""

    def __init__(self, embedding: Tensor, output: Tensor, recipe: Recipe) -> None:
        super().__init__(embedding, output)
        width, narrow, attends = self.width, share_of(self.width, 1 / 2), share_of(self.width, 1 / 4)
        inner = recipe.falcon_inner * width
        self.state_norm, self.embedding_norm, self.seen_norm, self.inner_norm, self.norm = (
            nn.Parameter(torch.ones(width)) for _ in range(5)
        )
        self.slots = nn.Parameter(torch.randn(recipe.block, width) * 0.1)
        self.token, self.one, self.two = (Layers(nn.Linear(width, narrow, bias=False)) for _ in range(3))
        self.begin = Layers(nn.Linear(width, 2 * narrow, bias=False))
        self.gates = Layers(nn.Linear(2 * narrow, 4 * narrow, bias=False))
        self.state = Layers(nn.Linear(width, width, bias=False))
        self.enter = Layers(nn.Linear(2 * narrow, width, bias=False))
        self.remember = Layers(nn.Linear(narrow, 2 * attends, bias=False))
        self.query, self.own = (Layers(nn.Linear(width, size * attends, bias=False)) for size in (1, 2))
        self.mixed = Layers(nn.Linear(attends, width, bias=False))
        self.gate_up = Layers(nn.Linear(width, 2 * inner, bias=False))
        self.down = Layers(nn.Linear(inner, width, bias=False))

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor, before: Tensor) -> Tensor:
        embedding = normed(self.embedding) * self.embedding_norm
        token: Tensor = self.token(embedding)
        given = token[rows] + self.one(embedding)[recalled[..., 0]] + self.two(embedding)[recalled[..., 1]]
        begun = normed(hidden) * self.state_norm
        known = self._known(functional.silu(given), begun)
        memory, entered, state = self.remember(known[..., known.shape[2] // 2 :]), self.enter(known), self.state(begun)
        told, block = [], len(self.slots)
        for start in range(0, rows.shape[1], block):
            x, seen = (state + entered[:, start])[:, None] + self.slots, memory[:, : start + 1]
            found = self._block(x, seen)
            truth = rows[:, start + 1 : start + block]
            if self.training and truth.shape[1]:
                found = self._glanced(found, x, seen, truth, functional.silu(token))
            told.append(found)
        return torch.cat(told, dim=1)[:, : rows.shape[1]] @ self.output.T

    def _known(self, given: Tensor, begun: Tensor) -> Tensor:
        """What is given of each token [batch, depth, narrow] and, behind it, what the LSTM makes of all so far."""
        output, cell = self.begin(begun).chunk(2, dim=1)
        output, made = torch.tanh(output), []
        for depth in range(given.shape[1]):
            joined = torch.cat((given[:, depth], output), dim=1)
            keep, write, show, new = self.gates(joined).chunk(4, dim=1)
            cell = torch.sigmoid(keep + 1) * cell + torch.sigmoid(write) * torch.tanh(new)
            output = torch.sigmoid(show) * torch.tanh(cell)
            made.append(torch.cat((given[:, depth], output), dim=1))
        return torch.stack(made, dim=1)

    def _block(self, x: Tensor, seen: Tensor) -> Tensor:
        """States [batch, block, width] out of which the tokens of a block are told; each place attends to all of the
        block, and to ``seen`` of the tokens before."""
        normal = normed(x) * self.seen_norm
        keys, values = torch.cat((seen, self.own(normal)), dim=1).chunk(2, dim=2)
        x = x + self.mixed(attended(self.query(normal), keys, values))
        gate, up = self.gate_up(normed(x) * self.inner_norm).chunk(2, dim=2)
        return normed(x + self.down(functional.silu(gate) * up)) * self.norm

    def _glanced(self, found: Tensor, x: Tensor, seen: Tensor, truth: Tensor, token: Tensor) -> Tensor:
        """``found`` with other states for the places after the first of wrong blocks: each is shown the ``truth``
        before it, as the network is given a ``token``."""
        with torch.no_grad():
            wrong = (found[:, 0] @ self.output.T).argmax(dim=1) != truth[:, 0]
        chosen = torch.nonzero(wrong)[::2, 0]
        glance = token[truth[chosen]]
        shown = self.enter(torch.cat((glance, torch.zeros_like(glance)), dim=2))
        x = torch.cat((x[chosen, :1], x[chosen, 1 : 1 + shown.shape[1]] + shown), dim=1)
        again = torch.cat((found[chosen, :1], self._block(x, seen[chosen])[:, 1:]), dim=1)
        return found[:, : again.shape[1]].index_put((chosen,), again)
