"""The networks of the methods, as they are trained: weights by the names that ``predtui.decoding.drafters`` reads.

Each takes the states behind tokens, the tokens that follow and what could be copied after each of those, and tells what
does come. Must not know where states come from, or of losses.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from predtui.decoding.heads import EPSILON
from predtui.lab.training.heads.config import Recipe


class Layers(nn.Module):
    """Matrices that the optimiser takes for those of layers."""

    def __init__(self, *layers: nn.Linear) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor) -> Tensor:
        """Of a single one."""
        result: Tensor = self.layers[0](x)
        return result


class HeadNetwork(nn.Module):
    """``embedding`` [n + 1, width] and ``output`` [n, width] are the target's, for the draft vocabulary, and stay."""

    embedding: Tensor
    output: Tensor

    def __init__(self, embedding: Tensor, output: Tensor) -> None:
        super().__init__()
        self.register_buffer("embedding", embedding, persistent=False)
        self.register_buffer("output", output, persistent=False)
        self.width = output.shape[1]

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor) -> Tensor:
        """Logits [batch, depth, n] of what follows each of ``rows`` [batch, depth], the rows of tokens in the
        embedding; ``hidden`` [batch, width]: the state behind the token before the first of them; ``recalled``
        [batch, depth, 2]: the rows of what ``Recall`` tells after each."""
        raise NotImplementedError

    def work(self, depth: int) -> int:
        """Multiplications that a place takes in which so many tokens are foretold: each head's, once."""
        return sum(weight.numel() for weight in self.parameters()) + depth * self.output.numel()


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

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor) -> Tensor:
        told = []
        for head in self.heads:
            x = hidden
            for layer in head.layers:  # type: ignore[union-attr]
                x = x + functional.silu(layer(x))
            told.append(x)
        return torch.stack(told[: rows.shape[1]], dim=1) @ self.output.T


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

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor) -> Tensor:
        embedded = self.narrow(normed(self.embedding[rows]) * self.embedding_norm)
        state, told = normed(hidden) * self.state_norm, []
        for depth, head in zip(range(rows.shape[1]), self.heads, strict=False):
            state = torch.cat((state, embedded[:, depth]), dim=1)
            x = head.layers[0](state)  # type: ignore[index, operator]
            x = x + functional.silu(head.layers[1](x))  # type: ignore[index, operator]
            told.append(normed(x) * self.norm)
        return torch.stack(told, dim=1) @ self.output.T


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

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor) -> Tensor:
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


NETWORKS: dict[str, Callable[[Tensor, Tensor, Recipe], HeadNetwork]] = {
    "medusa": MedusaNetwork,
    "hydra": HydraNetwork,
    "eagle": EagleNetwork,
}
"""By the method, of (embedding, output, recipe)."""


def normed(x: Tensor) -> Tensor:
    """Each vector over its root mean square."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + float(EPSILON))
