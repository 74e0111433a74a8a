"""The optimiser: Muon on the matrices inside the layers, AdamW on the embedding and the norms.

Its whole state is one flat mapping of names to tensors, which a safetensors file can hold. Must not know of data,
losses or schedules: the caller passes a rate factor with each step.

Muon (K. Jordan and others, 2024) replaces a momentum matrix by the nearest half-orthogonal one, found by a few
Newton-Schulz iterations in bfloat16, which is enough for a direction; matrices of one size are one batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import torch
from torch import Tensor, nn

WRITING = ("o_proj.weight", "down_proj.weight")
"""The matrices whose products are added to the residual stream."""
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)


def orthogonalise(matrices: Tensor, iterations: int = 5) -> Tensor:
    """About U Vᵀ for each of ``matrices`` [count, rows, columns] = U S Vᵀ: singular values end near 1. In bfloat16."""
    a, b, c = NEWTON_SCHULZ
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = (x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)).bfloat16()
    for _ in range(iterations):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    result: Tensor = x.mT if tall else x
    return result


class PocketOptimizer:
    """Muon and AdamW over those parameters of one model that require a gradient; AdamW alone if ``muon_lr`` is 0."""

    def __init__(
        self, model: nn.Module, muon_lr: float, adam_lr: float, decay: float = 0.0, loudness: float = 1.0
    ) -> None:
        """``decay``: weight decay of Muon's matrices, a share of the learning rate a step; no singular value grows
        beyond its inverse. ``loudness``: factor on AdamW's rate for what a layer adds to the residual stream."""
        self.muon_lr, self.adam_lr, self.decay = muon_lr, adam_lr, decay
        self.momentum, self.betas, self.eps = 0.95, (0.9, 0.95), 1e-10
        self.loudness = loudness
        self.steps = 0
        self._adam: dict[str, nn.Parameter] = {}
        self._muon: dict[torch.Size, dict[str, nn.Parameter]] = defaultdict(dict)
        for name, weight in model.named_parameters():
            if not weight.requires_grad:
                continue
            if muon_lr and weight.ndim == 2 and ".layers." in name:
                self._muon[weight.shape][name] = weight
            else:
                self._adam[name] = weight
        self._state = {f"adam.{kind}.{name}": torch.zeros_like(w) for name, w in self._adam.items() for kind in "mv"}
        for shape, group in self._muon.items():
            like = next(iter(group.values()))
            self._state[f"muon.{shape[0]}x{shape[1]}"] = torch.zeros(len(group), *shape, device=like.device)

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """One update from the parameters' gradients, learning rates times ``rate``; then the gradients are dropped."""
        self.steps += 1
        for shape, group in self._muon.items():
            self._muon_step(shape, list(group.values()), rate)
        for name, weight in self._adam.items():
            self._adam_step(name, weight, rate)
        for weight in (*self._adam.values(), *(w for group in self._muon.values() for w in group.values())):
            weight.grad = None

    def _muon_step(self, shape: torch.Size, weights: list[nn.Parameter], rate: float) -> None:
        gradient = torch.stack([_gradient(weight) for weight in weights])
        average = self._state[f"muon.{shape[0]}x{shape[1]}"]
        average.lerp_(gradient, 1 - self.momentum)
        update = orthogonalise(gradient.lerp_(average, self.momentum))
        step = rate * self.muon_lr * max(1.0, shape[0] / shape[1]) ** 0.5
        for weight, change in zip(weights, update, strict=True):
            weight.mul_(1 - rate * self.muon_lr * self.decay).sub_(change.float(), alpha=step)

    def _adam_step(self, name: str, weight: nn.Parameter, rate: float) -> None:
        gradient = _gradient(weight)
        first, second = self._state[f"adam.m.{name}"], self._state[f"adam.v.{name}"]
        first.lerp_(gradient, 1 - self.betas[0])
        second.lerp_(gradient.square(), 1 - self.betas[1])
        scale = (1 - self.betas[1] ** self.steps) ** 0.5 / (1 - self.betas[0] ** self.steps)
        loudness = self.loudness if name.endswith(WRITING) else 1.0
        weight.addcdiv_(first, second.sqrt().add_(self.eps), value=-rate * self.adam_lr * scale * loudness)

    def state(self) -> dict[str, Tensor]:
        """The tensors that a later run needs to go on, beside the parameters and ``steps``."""
        return dict(self._state)

    def load(self, state: Mapping[str, Tensor], steps: int) -> None:
        """Take up a saved state. Raises KeyError when it belongs to another model."""
        for name, tensor in self._state.items():
            tensor.copy_(state[name])
        self.steps = steps


def _gradient(weight: nn.Parameter) -> Tensor:
    if weight.grad is None:
        raise RuntimeError("step() without a backward pass before it")
    return weight.grad
