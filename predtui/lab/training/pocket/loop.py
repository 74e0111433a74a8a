"""The trainer of one pocket model: batches in, weights and checkpoints out, on CPU or GPU.

Must not know of what the dialogues are about, nor of export formats. The same seed and number of steps give the same
weights on the same machine and thread count; an interrupted run that is resumed goes on as if nothing had happened.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from predtui.lab.training.pocket.checkpoint import Counters, load_checkpoint, save_checkpoint
from predtui.lab.training.pocket.config import Budget, Recipe, Shape, TrainingRecord
from predtui.lab.training.pocket.data import SAID_WEIGHT, Batch, BatchStream, Cursor, Sampler, make_pool
from predtui.lab.training.pocket.model import PocketModel, grown
from predtui.lab.training.pocket.optim import PocketOptimizer
from predtui.lab.training.pocket.tokenizer import PAD, SPECIAL_TOKENS, load_tokenizer
from predtui.system.exits import terminate_as_interrupt, undivided

CHECKPOINT = "checkpoint.safetensors"
SMOOTHING = 0.97
SURPRISING = 6.0
"""How many nats less likely than the likeliest one a token is that was not to be expected: where answers that fit and
answers that do not are told apart best."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One step's news: running means of the loss (nats a reply token) and of the judgements answered right (0 to 1),
    the rate factor, the share of the budget used, and tokens a second since the run was started or resumed."""

    step: int
    loss: float
    judge_accuracy: float | None
    rate: float
    share: float
    seconds: float
    tokens_per_second: float

    @property
    def seconds_left(self) -> float:
        """Expected time to the end."""
        return self.seconds * (1 - self.share) / max(self.share, 1e-9)


Report = Callable[[Progress], None]


def train(
    shape: Shape,
    recipe: Recipe,
    budget: Budget,
    folder: Path,
    sampler: Sampler,
    *,
    base: PocketModel | None = None,
    start: PocketModel | None = None,
    teacher: PocketModel | None = None,
    first_pool: int = 0,
    seed: int = 0,
    threads: int = 2,
    workers: int = 1,
    resume: bool = False,
    device: str | None = None,
    report: Report = lambda progress: None,
) -> tuple[PocketModel, TrainingRecord]:
    """Train one model; ``folder`` holds ``tokenizer.json`` and receives ``checkpoint.safetensors``.

    ``base``, a model of fewer layers, stays as it is below those that are trained. ``start``, a finished model of as
    many layers or more, is what a new run begins with, at ``first_pool`` of the stream. With a ``teacher`` it is its
    probabilities that are learned, in place of the tokens themselves.
    Ctrl-C and SIGTERM save a checkpoint and raise KeyboardInterrupt. With ``resume`` an existing checkpoint is taken
    up; one that has used up the budget is returned as it is. Raises ValueError where ``start`` is of another shape.
    """
    torch.set_num_threads(threads)
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    model = (grown(base, shape.layers, seed) if base else PocketModel(shape, seed)).to(device)
    if start is not None:
        if replace(start.shape, layers=shape.layers) != shape or start.shape.layers < shape.layers:
            raise ValueError(f"a model of {start.shape} cannot be trained on as one of {shape}")
        begun = start.state_dict()
        trained = {name: begun[name] for name, weight in model.named_parameters() if weight.requires_grad}
        model.load_state_dict(trained, strict=False)
    loudness = _loudness(base, sampler, folder, recipe, seed) if base else 1.0
    optimizer = PocketOptimizer(model, recipe.muon_lr, recipe.adam_lr, recipe.decay, loudness)
    path = folder / CHECKPOINT
    fresh = Counters(seed, cursor=Cursor(first_pool))
    counters = load_checkpoint(path, model, optimizer, seed) if resume and path.exists() else fresh
    if budget.progress(counters.step, counters.seconds) < 1.0:
        stream = BatchStream(sampler, folder, recipe, shape.context, seed, counters.cursor, workers)
        with stream, terminate_as_interrupt():
            run = Run(model, optimizer, recipe, budget, path, report, teacher.to(device) if teacher else None)
            counters = run(stream, counters)
    record = TrainingRecord(
        seed=seed,
        steps=counters.step,
        seconds=counters.seconds,
        tokens=counters.tokens,
        loss=counters.loss,
        judge_accuracy=counters.judge_accuracy,
        device=device,
        threads=threads,
    )
    return model.to("cpu"), record


@torch.no_grad()
def _loudness(base: PocketModel, sampler: Sampler, folder: Path, recipe: Recipe, seed: int) -> float:
    """How large the numbers are in the residual stream above ``base``: in the hundreds, where a layer starts out to
    add some tenths. At one rate for all weights a new layer would have to shout for hours to be heard."""
    few = replace(recipe, pool_batches=1)
    batch = make_pool(sampler, load_tokenizer(folder), few, base.shape.context, seed, 0)[0]
    stream = base.model.states(torch.as_tensor(batch.ids, device=next(base.parameters()).device))[-1]
    real = torch.as_tensor(batch.ids) != SPECIAL_TOKENS.index(PAD)
    return stream[real].square().mean(-1).sqrt().median().item()


class Run:
    """The loop of ``train`` and what it needs in each step."""

    def __init__(
        self,
        model: PocketModel,
        optimizer: PocketOptimizer,
        recipe: Recipe,
        budget: Budget,
        path: Path,
        report: Report,
        teacher: PocketModel | None = None,
    ) -> None:
        self.model, self.optimizer, self.recipe, self.budget = model, optimizer, recipe, budget
        self.path, self.report, self.teacher = path, report, teacher
        self.device = next(model.parameters()).device
        self.half = has_bfloat16(self.device)
        layers: Iterable[nn.Module] = model.model.layers
        self.standing = sum(not any(weight.requires_grad for weight in layer.parameters()) for layer in layers)

    def __call__(self, stream: BatchStream, counters: Counters) -> Counters:
        before = counters
        begun = saved = time.monotonic()
        try:
            for batch, cursor in stream:
                share = self.budget.progress(counters.step, counters.seconds)
                if share >= 1.0:
                    break
                rate = self.recipe.rate(counters.step, share)
                with undivided():  # or a checkpoint would have half of a step
                    loss, judged = self._step(batch, rate)
                    now = time.monotonic()
                    accuracy = counters.judge_accuracy
                    counters = replace(
                        counters,
                        step=counters.step + 1,
                        seconds=before.seconds + now - begun,
                        tokens=counters.tokens + batch.tokens,
                        loss=_smooth(counters.loss if counters.step else None, loss),
                        judge_accuracy=accuracy if judged is None else _smooth(accuracy, judged),
                        cursor=cursor,
                    )
                if now - saved > self.recipe.checkpoint_seconds:
                    self._save(counters)
                    saved = now
                speed = (counters.tokens - before.tokens) / max(now - begun, 1e-9)
                self.report(self._progress(counters, rate, speed))
        except KeyboardInterrupt:
            self._save(counters)
            raise
        self._save(counters)
        return counters

    def _step(self, batch: Batch, rate: float) -> tuple[float, float | None]:
        """One update. Returns the plain mean loss of the reply tokens and the share of judgements right, if any."""
        targets, weights = self._tensor(batch.targets), self._tensor(batch.weights)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            places = np.concatenate((batch.positions, batch.judged))
            states = self.model.model.states(self._tensor(batch.ids))
            hidden = self.model.model.norm(states[-1]).flatten(0, 1).index_select(0, self._tensor(places))
            all_logits = self.model.head(hidden).float()
        logits, doubts = all_logits[: len(targets)], all_logits[len(targets) :]
        losses = functional.cross_entropy(logits, self._taught(batch, targets), reduction="none")
        loss = ((losses * weights).sum() + self._judged(doubts, batch)) / (weights.sum() + len(batch.judged))
        if self.recipe.recall_weight:
            loss = loss + self.recipe.recall_weight * self._recalled(hidden[: len(targets)], batch)
        if self.recipe.surprise_weight:
            loss = loss + self.recipe.surprise_weight * self.surprised(states, batch)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.grad_clip)
        self.optimizer.step(rate)
        labels = self._tensor(batch.labels)
        judged = (logits.detach()[labels].argmax(-1) == targets[labels]).float().mean().item()
        replied = losses.detach()[weights > SAID_WEIGHT].mean().item()
        return replied, None if math.isnan(judged) else judged

    @torch.no_grad()
    def _taught(self, batch: Batch, targets: Tensor) -> Tensor:
        """What is learned at each position: its token, or the teacher's probabilities [positions, vocab]."""
        if self.teacher is None:
            return targets
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            logits = self.teacher(self._tensor(batch.ids), self._tensor(batch.positions))
        probabilities: Tensor = logits.float().softmax(-1)
        return probabilities

    def _judged(self, logits: Tensor, batch: Batch) -> Tensor:
        """Summed loss of what the model would say, yes or no, after each word of a judged answer.

        One label an answer is too little to learn to compare two texts from; these say where they part.
        """
        yes, no = batch.answers
        margin = logits[:, yes] - logits[:, no]
        return functional.binary_cross_entropy_with_logits(margin, self._tensor(batch.fits), reduction="sum")

    def _recalled(self, hidden: Tensor, batch: Batch) -> Tensor:
        """Mean loss of naming the token that stands at each learned position itself."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            logits = self.model.recalled(hidden).float()
        present = self._tensor(batch.ids.ravel()[batch.positions])
        return functional.cross_entropy(logits, present)

    def surprised(self, states: list[Tensor], batch: Batch) -> Tensor:
        """Mean loss of telling, one layer above those that stand still, how unlikely each token was to them.

        Nothing but the tokens themselves is needed to learn it from, and it is what a judgement is made of: an answer
        fits unless some token of it was not to be expected.
        """
        ids, (yes, no) = self._tensor(batch.ids), batch.answers
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            with torch.no_grad():
                expected = self.model.head(self.model.model.norm(states[self.standing][:, :-1])).float()
            words = self.model.model.embed_tokens.weight
            told = self.model.model.norm(states[self.standing + 1][:, 1:]).flip(-1)
            margin = (told @ (words[no] - words[yes])).float()
        gap = expected.amax(-1) - expected.gather(-1, ids[:, 1:, None])[..., 0]
        losses = functional.binary_cross_entropy_with_logits(margin, (gap - SURPRISING).sigmoid(), reduction="none")
        real = ids[:, 1:] != SPECIAL_TOKENS.index(PAD)
        return (losses * real).sum() / real.sum()

    def _progress(self, counters: Counters, rate: float, speed: float) -> Progress:
        share = self.budget.progress(counters.step, counters.seconds)
        return Progress(counters.step, counters.loss, counters.judge_accuracy, rate, share, counters.seconds, speed)

    def _save(self, counters: Counters) -> None:
        save_checkpoint(self.path, self.model, self.optimizer, counters)

    def _tensor(self, array: object) -> Tensor:
        return torch.as_tensor(array, device=self.device)


def has_bfloat16(device: torch.device) -> bool:
    """Whether matrix products in bfloat16 are native to the device: a quarter faster on such CPUs, slower on others."""
    return device.type == "cuda" or bool(torch.cpu.get_capabilities().get("avx512_bf16"))


def _smooth(old: float | None, new: float) -> float:
    return new if old is None else SMOOTHING * old + (1 - SMOOTHING) * new
