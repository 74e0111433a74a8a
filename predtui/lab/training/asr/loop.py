"""The trainer of the pocket Whisper: batches in, weights and checkpoints out.

First the encoder alone, by CTC; then encoder and decoder together. An interrupted run that is resumed goes on with
the batch it was at. Must not know of speech synthesis, nor of export formats.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional

from predtui.files import replace_by
from predtui.lab.training.asr.batches import IGNORED, Batch, Batches
from predtui.lab.training.asr.config import Recipe, Shape
from predtui.lab.training.asr.model import Whisper
from predtui.lab.training.pocket.config import Budget
from predtui.lab.training.pocket.loop import has_bfloat16
from predtui.lab.training.pocket.optim import PocketOptimizer
from predtui.system.exits import terminate_as_interrupt, undivided

CHECKPOINT = "checkpoint.safetensors"
SMOOTHING = 0.98
HEAD_STEPS, HEAD_RATE = 80, 0.01


@dataclass(frozen=True, slots=True)
class Counters:
    """How far a run is: batches learned from, seconds spent, the running means of its losses in nats."""

    seed: int
    step: int = 0
    seconds: float = 0.0
    ctc: float = 0.0
    entropy: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """One step's news; ``share`` of the budget that is used."""

    counters: Counters
    share: float
    utterances_a_second: float


Report = Callable[[Progress], None]


class Trainee(nn.Module):
    """The model and, for training alone, a CTC head over the text tokens on its encoder; the last unit is the blank."""

    def __init__(self, shape: Shape, text_tokens: int, seed: int) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.whisper = Whisper(shape)
        self.head = nn.Linear(shape.d_model, text_tokens + 1)

    def ctc(self, states: Tensor, batch: Batch) -> Tensor:
        """The CTC loss a token of encoder states [batch, positions, d_model]."""
        scores = functional.log_softmax(self.head(states).float(), dim=-1).transpose(0, 1)
        lengths = torch.from_numpy((batch.lengths + 1) // 2)
        units, unit_lengths = torch.from_numpy(batch.units), torch.from_numpy(batch.unit_lengths)
        blank = self.head.out_features - 1
        total = functional.ctc_loss(scores, units, lengths, unit_lengths, blank, "sum", zero_infinity=True)
        return total / max(1, int(batch.unit_lengths.sum()))

    def entropy(self, states: Tensor, batch: Batch, smoothing: float) -> Tensor:
        """The decoder's cross-entropy a token, given encoder states."""
        logits = self.whisper.model["decoder"](torch.from_numpy(batch.ids), states).float()
        labels = torch.from_numpy(batch.labels).flatten()
        return functional.cross_entropy(logits.flatten(0, 1), labels, ignore_index=IGNORED, label_smoothing=smoothing)


def teach_head(trainee: Trainee, batches: Batches) -> None:
    """Fit the CTC head, which no finished model has, to an encoder that hears already and that it must not upset."""
    optimizer = torch.optim.Adam(trainee.head.parameters(), lr=HEAD_RATE)
    for number in range(HEAD_STEPS):
        batch = batches.get(number, padded=False)
        with torch.no_grad():
            states = trainee.whisper.encode(torch.from_numpy(batch.mels))
        optimizer.param_groups[0]["lr"] = HEAD_RATE * (1.0 - number / HEAD_STEPS)
        optimizer.zero_grad()
        torch.autograd.backward(trainee.ctc(states, batch))
        optimizer.step()


class Run:
    """One training run of ``trainee`` over ``batches``, checkpointed in ``folder``."""

    def __init__(
        self, trainee: Trainee, batches: Batches, recipe: Recipe, budget: Budget, folder: Path, report: Report
    ) -> None:
        self._trainee, self._batches, self._recipe, self._budget = trainee, batches, recipe, budget
        self._path, self._report = folder / CHECKPOINT, report
        listening = nn.ModuleDict({"encoder": trainee.whisper.model["encoder"], "head": trainee.head})
        parts = {"listening": listening, "writing": trainee.whisper.model["decoder"]}
        self._optimizers = {
            name: PocketOptimizer(part, recipe.muon_rate, recipe.adam_rate) for name, part in parts.items()
        }
        self._parameters = {name: list(part.parameters()) for name, part in parts.items()}
        self._half = has_bfloat16(torch.device("cpu"))

    def __call__(self, seed: int, resume: bool) -> Counters:
        """Train to the end of the budget. Ctrl-C and SIGTERM save and raise KeyboardInterrupt."""
        counters = self._load(seed) if resume and self._path.exists() else Counters(seed)
        before, begun = counters, time.monotonic()
        saved = begun
        try:
            with terminate_as_interrupt():
                while (share := self._budget.progress(counters.step, counters.seconds)) < 1.0:
                    with undivided():  # or a checkpoint would have half of a step
                        counters = self._step(counters, share)
                        now = time.monotonic()
                        counters = replace(counters, seconds=before.seconds + now - begun)
                    if now - saved > self._recipe.checkpoint_seconds:
                        self._save(counters)
                        saved = now
                    speed = (counters.step - before.step) * self._recipe.batch / max(now - begun, 1e-9)
                    self._report(Progress(counters, share, speed))
        finally:
            self._save(counters)
        return counters

    def _step(self, counters: Counters, share: float) -> Counters:
        writing = share >= self._recipe.encoder_share
        batch = self._batches.get(counters.step, padded=writing)
        with torch.autocast("cpu", torch.bfloat16, enabled=self._half):
            states = self._trainee.whisper.encode(torch.from_numpy(batch.mels))
            ctc = self._trainee.ctc(states, batch)
            entropy = self._trainee.entropy(states, batch, self._recipe.smoothing) if writing else torch.zeros(())
        torch.autograd.backward(self._recipe.ctc_weight * ctc + entropy if writing else ctc)
        for name in ("listening", "writing") if writing else ("listening",):
            torch.nn.utils.clip_grad_norm_(self._parameters[name], self._recipe.clip)
            optimizer = self._optimizers[name]
            optimizer.step(self._recipe.factor(optimizer.steps, share))
        return replace(
            counters,
            step=counters.step + 1,
            ctc=_smooth(counters.ctc, ctc.item()),
            entropy=_smooth(counters.entropy, entropy.item()) if writing else 0.0,
        )

    def _save(self, counters: Counters) -> None:
        tensors = {f"trainee.{name}": tensor for name, tensor in self._trainee.state_dict().items()}
        for name, optimizer in self._optimizers.items():
            tensors |= {f"{name}.{key}": tensor for key, tensor in optimizer.state().items()}
        steps = {name: optimizer.steps for name, optimizer in self._optimizers.items()}
        facts = {"counters": json.dumps(asdict(counters)), "steps": json.dumps(steps)}
        whole = {name: tensor.contiguous() for name, tensor in tensors.items()}
        replace_by(self._path, lambda place: save_file(whole, str(place), metadata=facts))

    def _load(self, seed: int) -> Counters:
        """Raises ValueError where the checkpoint is of another seed."""
        with safe_open(str(self._path), framework="pt") as file:
            facts = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        counters = Counters(**json.loads(facts["counters"]))
        if counters.seed != seed:
            raise ValueError(f"{self._path} is of another run (seed {counters.seed}); remove it or train elsewhere")
        self._trainee.load_state_dict(_under(tensors, "trainee."))
        for name, optimizer in self._optimizers.items():
            optimizer.load(_under(tensors, f"{name}."), json.loads(facts["steps"])[name])
        return counters


def describe(progress: Progress) -> str:
    """One line with units."""
    counters = progress.counters
    left = counters.seconds * (1 - progress.share) / max(progress.share, 1e-9)
    return (
        f"step {counters.step}  CTC {counters.ctc:.3f}  decoder {counters.entropy:.3f} nats  "
        f"{progress.utterances_a_second:.0f} utterances/s  {int(left) // 60}:{int(left) % 60:02d} left"
    )


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _smooth(old: float, new: float) -> float:
    return SMOOTHING * old + (1 - SMOOTHING) * new if old else new
