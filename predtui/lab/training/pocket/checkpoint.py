"""Checkpoints of a training run: one safetensors file each, replaced in one step, so that a kill loses minutes at most.

Tensors are the model's and the optimiser's; the counters stand in the file's metadata. Nothing is pickled.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from predtui.files import replace_by
from predtui.lab.training.pocket.config import Shape
from predtui.lab.training.pocket.data import Cursor
from predtui.lab.training.pocket.model import PocketModel
from predtui.lab.training.pocket.optim import PocketOptimizer


@dataclass(frozen=True, slots=True)
class Counters:
    """How far a run is: steps and seconds spent, tokens seen, running means, the next batch."""

    seed: int
    step: int = 0
    seconds: float = 0.0
    tokens: int = 0
    loss: float = 0.0
    judge_accuracy: float | None = None
    cursor: Cursor = field(default_factory=Cursor)


def save_checkpoint(path: Path, model: PocketModel, optimizer: PocketOptimizer, counters: Counters) -> None:
    """Write beside ``path`` and move over it."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()} | {
        f"optimizer.{name}": tensor for name, tensor in optimizer.state().items()
    }
    metadata = {"counters": json.dumps(asdict(counters)), "shape": json.dumps(asdict(model.shape))}
    whole = {name: tensor.contiguous() for name, tensor in tensors.items()}
    replace_by(path, lambda place: save_file(whole, str(place), metadata=metadata))


def load_checkpoint(path: Path, model: PocketModel, optimizer: PocketOptimizer, seed: int) -> Counters:
    """Fill model and optimiser from ``path``. Raises ValueError if it is of another shape or seed."""
    device = next(model.parameters()).device.type
    with safe_open(str(path), framework="pt", device=device) as file:
        metadata = file.metadata()
        tensors: dict[str, torch.Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    data = json.loads(metadata["counters"])
    counters = Counters(**{**data, "cursor": Cursor(**data["cursor"])})
    if Shape(**json.loads(metadata["shape"])) != model.shape or counters.seed != seed:
        raise ValueError(f"{path} belongs to another run (seed {counters.seed}); remove it or train elsewhere")
    model.load_state_dict(_under(tensors, "model."))
    optimizer.load(_under(tensors, "optimizer."), counters.step)
    return counters


def _under(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
