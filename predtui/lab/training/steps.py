"""Steps of any training, with a checkpoint from which a run goes on as if nothing had been: what a step learns from is
a function of the seed, of its number and of the share of the budget that is used. Must not know of losses, of data, or
of what is made of the weights.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from predtui.errors import PredtuiError, reason
from predtui.files import replace_by
from predtui.lab.training.pocket.config import Budget
from predtui.lab.training.pocket.optim import PocketOptimizer
from predtui.system.exits import undivided

SMOOTHING = 0.98
"""Of the running mean of the loss."""
_ANEW = "Remove it, or train with --no-resume."


class Recipe(Protocol):
    """What a run needs to know of its recipe: the rates as in ``PocketOptimizer``, ``batch`` in places or replies."""

    @property
    def batch(self) -> int: ...

    @property
    def muon_lr(self) -> float: ...

    @property
    def adam_lr(self) -> float: ...

    @property
    def decay(self) -> float: ...

    @property
    def grad_clip(self) -> float: ...

    @property
    def checkpoint_seconds(self) -> float: ...

    def rate(self, step: int, progress: float) -> float:
        """Factor on the learning rates."""


@dataclass(frozen=True, slots=True)
class Counters:
    """How far a run is: ``run`` tells it from others; ``loss`` in nats a token."""

    run: str
    step: int = 0
    seconds: float = 0.0
    loss: float = 0.0


@dataclass(frozen=True, slots=True)
class News:
    """One step's."""

    counters: Counters
    share: float
    examples_per_second: float

    def line(self) -> str:
        """In words, with units."""
        seconds = self.counters.seconds * (1 - self.share) / max(self.share, 1e-9)
        minutes, rest = divmod(int(seconds), 60)
        return (
            f"step {self.counters.step}  loss {self.counters.loss:.3f} nats  "
            f"{self.examples_per_second:,.0f} examples/s  {minutes}:{rest:02d} left"
        )


class Steps:
    """One run of a network's training; ``learn`` is what differs."""

    def __init__(self, network: nn.Module, recipe: Recipe, seed: int, path: Path) -> None:
        """``path``: the checkpoint."""
        self._network, self._settings, self._seed, self._path = network, recipe, seed, path
        self._optimizer = PocketOptimizer(network, recipe.muon_lr, recipe.adam_lr, recipe.decay)

    def learn(self, generator: torch.Generator, share: float) -> float:
        """Gradients of one batch, drawn by ``generator``; ``share`` of the budget is used. The loss, in nats."""
        raise NotImplementedError

    def run(self, budget: Budget, counters: Counters, resume: bool, report: Callable[[News], None]) -> Counters:
        """Steps until the budget is used up, saved now and then, at the end and when interrupted. Raises PredtuiError
        where the checkpoint is of another run or damaged, and where the loss is no number."""
        if resume and self._path.exists():
            counters = self._load(counters)
        before, begun = counters, time.monotonic()
        kept = begun
        try:
            while (share := budget.progress(counters.step, counters.seconds)) < 1.0:
                with undivided():  # or a checkpoint would have half of a step
                    loss = self._step(counters.step, share)
                    now = time.monotonic()
                    mean = SMOOTHING * counters.loss + (1 - SMOOTHING) * loss if counters.step else loss
                    seconds = before.seconds + now - begun
                    counters = replace(counters, step=counters.step + 1, seconds=seconds, loss=mean)
                if now - kept > self._settings.checkpoint_seconds:
                    self._save(counters)
                    kept = now
                speed = (counters.step - before.step) * self._settings.batch / max(now - begun, 1e-9)
                report(News(counters, budget.progress(counters.step, counters.seconds), speed))
        finally:
            self._save(counters)
        return counters

    def _step(self, step: int, share: float) -> float:
        loss = finite(self.learn(torch.Generator().manual_seed(hash_of(self._seed, step)), share), step)
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), self._settings.grad_clip)
        self._optimizer.step(self._settings.rate(step, share))
        return loss

    def _save(self, counters: Counters) -> None:
        save(self._path, dict(self._network.named_parameters()), self._optimizer, asdict(counters))

    def _load(self, fresh: Counters) -> Counters:
        return Counters(**load(self._path, dict(self._network.named_parameters()), self._optimizer, fresh.run))


def finite(loss: float, step: int) -> float:
    """``loss``, of a step. Raises PredtuiError where it is no number: what follows from it is none, either."""
    if not math.isfinite(loss):
        what = f"The loss of step {step + 1} is no number"
        raise PredtuiError(f"{what}: the rates are too high, or weights of the model are damaged.", "Fetch it again.")
    return loss


def save(path: Path, weights: Mapping[str, Tensor], optimizer: PocketOptimizer, counters: Mapping[str, Any]) -> None:
    """Write ``weights``, the optimiser's state and ``counters`` beside ``path``, and move them over it."""
    tensors = {name: tensor.detach().contiguous() for name, tensor in _named(weights, optimizer).items()}
    about = {"counters": json.dumps(counters)}
    replace_by(path, lambda place: save_file(tensors, str(place), metadata=about))


@torch.no_grad()
def load(path: Path, weights: Mapping[str, Tensor], optimizer: PocketOptimizer, run: str) -> dict[str, Any]:
    """Fill ``weights`` and optimiser with what ``save`` wrote; the counters, among them "run" and "step". Raises
    PredtuiError where it is damaged, and where it is not of this ``run``."""
    counters = require(path, run)
    try:
        with safe_open(str(path), framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise PredtuiError(f"The checkpoint {path} cannot be read: {reason(error)}.", _ANEW) from error
    into = _named(weights, optimizer)
    if {name: one.shape for name, one in tensors.items()} != {name: one.shape for name, one in into.items()}:
        raise PredtuiError(f"{path} belongs to another run.", _ANEW)
    for name, tensor in into.items():
        tensor.copy_(tensors[name])
    optimizer.steps = counters["step"]
    return counters


def require(path: Path, run: str) -> dict[str, Any]:
    """The counters of a checkpoint. Raises PredtuiError as ``load`` does."""
    try:
        with safe_open(str(path), framework="pt") as file:
            counters: dict[str, Any] = json.loads(file.metadata()["counters"])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise PredtuiError(f"The checkpoint {path} cannot be read: {reason(error)}.", _ANEW) from error
    if counters.get("run") != run:
        raise PredtuiError(f"{path} belongs to another run.", _ANEW)
    return counters


def _named(weights: Mapping[str, Tensor], optimizer: PocketOptimizer) -> dict[str, Tensor]:
    found = {f"weight.{name}": weight for name, weight in weights.items()}
    return found | {f"optimizer.{name}": state for name, state in optimizer.state().items()}


def hash_of(seed: int, step: int) -> int:
    """A seed for each step of each run."""
    return (seed * 1_000_003 + step) % 2**63
