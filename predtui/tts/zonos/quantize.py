"""Weight-only quantisation: the matrices of the transformer as 8-bit integers with one scale per row.

Must not know what the matrices are for.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

LARGEST = 127
"""Of a symmetric 8-bit integer."""


class Int8Linear(nn.Module):
    """A linear layer without bias, [..., inputs] to [..., outputs]. Its weight [outputs, inputs] is rounded to 8 bits
    with a ``scale`` [outputs]; it computes in the type of its input."""

    weight: Tensor
    scale: Tensor

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        wide = linear.weight.detach().to(torch.promote_types(linear.weight.dtype, torch.float32))
        scale = (wide.abs().amax(dim=1) / LARGEST).clamp(min=torch.finfo(wide.dtype).tiny)
        self.register_buffer("weight", (wide / scale[:, None]).round().to(torch.int8))
        self.register_buffer("scale", scale.to(linear.weight.dtype))

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight.to(x.dtype)) * self.scale


def quantize(network: nn.Module) -> None:
    """Replace, in place, every linear layer without bias inside ``network`` by an ``Int8Linear``."""
    for name, child in list(network.named_children()):
        if isinstance(child, nn.Linear) and child.bias is None:
            setattr(network, name, Int8Linear(child))
        else:
            quantize(child)
