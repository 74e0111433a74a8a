"""What the networks of all methods are made of. Must not know of any one method."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from predtui.decoding.heads import ATTENTION, EPSILON


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
    window = 0
    """How many of the tokens before it takes."""

    def __init__(self, embedding: Tensor, output: Tensor) -> None:
        super().__init__()
        self.register_buffer("embedding", embedding, persistent=False)
        self.register_buffer("output", output, persistent=False)
        self.width = output.shape[1]

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor, before: Tensor) -> Tensor:
        """Logits [batch, depth, n] of what follows each of ``rows`` [batch, depth], the rows of tokens in the
        embedding; ``hidden`` [batch, width]: the state behind the token before the first of them; ``recalled``
        [batch, depth, 2]: the rows of what ``Recall`` tells after each; ``before`` [batch, window]: those of the
        tokens before the first, ``NOTHING`` where there are none."""
        raise NotImplementedError

    def work(self, depth: int) -> int:
        """Multiplications that a place takes in which so many tokens are foretold: each head's, once."""
        return sum(weight.numel() for weight in self.parameters()) + depth * self.output.numel()


def normed(x: Tensor) -> Tensor:
    """Each vector over its root mean square."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + float(EPSILON))


def attended(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor | float = 0.0) -> Tensor:
    """[batch, places, width]: of ``values`` [batch, seen, width], what each ``query`` [batch, places, width] finds by
    ``keys``; ``bias``, which heads share, is on their scores [batch, heads, places, seen]."""
    queries, keys, values = (
        part.reshape(*part.shape[:2], ATTENTION, -1).transpose(1, 2) for part in (query, keys, values)
    )
    scores = queries @ keys.mT * keys.shape[-1] ** -0.5 + bias
    return (torch.softmax(scores, dim=3) @ values).transpose(1, 2).flatten(2)


def share_of(width: int, share: float) -> int:
    """About that share of ``width``, such that heads of attention can divide it."""
    return ATTENTION * max(1, round(share * width / ATTENTION))
