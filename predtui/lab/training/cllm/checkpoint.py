"""What a checkpoint of consistency tuning holds, beside the optimiser's state. Must not know of files."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn


@dataclass(frozen=True, slots=True)
class Counters:
    """How far a run is: ``run`` tells it from others; steps and seconds spent, tokens that went through the model,
    running means of the two losses in nats a token."""

    run: str
    step: int = 0
    seconds: float = 0.0
    tokens: int = 0
    consistency: float = 0.0
    autoregressive: float = 0.0


def tuned(network: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are learned."""
    return {name: weight for name, weight in network.named_parameters() if weight.requires_grad}
