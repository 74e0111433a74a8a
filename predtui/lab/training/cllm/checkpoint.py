"""Checkpoints of consistency tuning: one safetensors file, replaced in one step. Nothing is pickled."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from predtui.errors import PredtuiError
from predtui.lab.training.pocket.optim import PocketOptimizer


@dataclass(frozen=True, slots=True)
class Counters:
    """How far a run is: of which model and seed, steps and seconds spent, tokens that went through the model, running
    means of the two losses in nats a token."""

    model: str
    seed: int
    step: int = 0
    seconds: float = 0.0
    tokens: int = 0
    consistency: float = 0.0
    autoregressive: float = 0.0


def save(path: Path, network: nn.Module, optimizer: PocketOptimizer, counters: Counters) -> None:
    """Write the weights that are tuned and the optimiser's state beside ``path``, and move them over it."""
    tensors = {f"weight.{name}": weight.detach() for name, weight in tuned(network).items()}
    tensors |= {f"optimizer.{name}": state for name, state in optimizer.state().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".partial")
    save_file(
        {name: tensor.contiguous() for name, tensor in tensors.items()},
        str(draft),
        metadata={"counters": json.dumps(asdict(counters))},
    )
    os.replace(draft, path)


@torch.no_grad()
def load(path: Path, network: nn.Module, optimizer: PocketOptimizer, fresh: Counters) -> Counters:
    """Fill weights and optimiser from ``path``. Raises PredtuiError if it is of another run than ``fresh``."""
    weights = tuned(network)
    with safe_open(str(path), framework="pt") as file:
        counters = Counters(**json.loads(file.metadata()["counters"]))
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    known = {name.removeprefix("weight.") for name in tensors if name.startswith("weight.")}
    if (counters.model, counters.seed) != (fresh.model, fresh.seed) or known != set(weights):
        raise PredtuiError(f"{path} belongs to another run.", "Remove it, or tune with --no-resume.")
    for name, weight in weights.items():
        weight.copy_(tensors[f"weight.{name}"])
    state = {name.removeprefix("optimizer."): tensor for name, tensor in tensors.items() if name[0] == "o"}
    optimizer.load(state, counters.step)
    return counters


def tuned(network: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are learned."""
    return {name: weight for name, weight in network.named_parameters() if weight.requires_grad}
