"""The loop of consistency tuning: every step moves blocks one Jacobi iteration on, and learns where they should land.

Must not know of text, of where replies come from, or of what is done with the weights.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from predtui.lab.training.cllm.config import Recipe
from predtui.lab.training.cllm.windows import IGNORED, Reply, Windows
from predtui.lab.training.pocket.data import Batch


def batches(replies: Sequence[Reply], recipe: Recipe, seed: str, fill: int | None) -> Iterator[Windows]:
    """Batches of like length for ever, each of about ``batch_tokens`` columns; a function of ``seed``."""
    extra = recipe.windows * (recipe.block - 1)
    for epoch in count():
        rng = random.Random(f"cllm batches:{seed}:{epoch}")
        generator = torch.Generator().manual_seed(rng.randrange(2**31))
        groups = grouped(rng.sample(replies, len(replies)), recipe.batch_tokens, extra)
        rng.shuffle(groups)
        for group in groups:
            yield Windows(group, recipe.windows, recipe.block, generator, fill)


def grouped(replies: Sequence[Reply], batch_tokens: int, extra: int) -> list[list[Reply]]:
    """``replies`` in groups of like length, each at most ``batch_tokens`` columns; a row has ``extra`` more."""
    groups: list[list[Reply]] = [[]]
    for reply in sorted(replies, key=lambda reply: len(reply.prompt) + len(reply.tokens)):
        width = len(reply.prompt) + len(reply.tokens) + extra
        if groups[-1] and (len(groups[-1]) + 1) * width > batch_tokens:
            groups.append([])
        groups[-1].append(reply)
    return groups


def in_turn(fresh: Iterator[Windows], recipe: Recipe) -> Iterator[Windows]:
    """Batches out of a pool, one after the other, each ``iterations`` times before another takes its place. The first
    ones leave early, so that never all of them are new."""
    pool = [(next(fresh), 1 + n % recipe.iterations) for n in range(recipe.pool)]
    while True:
        batch, left = pool.pop(0)
        yield batch
        pool.append((batch, left - 1) if left > 1 else (next(fresh), recipe.iterations))


def losses(network: Any, batch: Windows, half: bool, discount: float) -> tuple[Tensor, Tensor]:
    """Consistency and autoregressive loss, nats a token, of one forward; ``batch`` moves on by its choices.

    Consistency (Kou et al. 2024, section 3.2, with the fixed point's tokens as the targets): from a point of the
    trajectory, every token of the block should be chosen as at its end; the further on, the less it weighs.
    """
    device = network.device
    columns = batch.ids.shape[1]
    seen = torch.where(batch.visible(), 0.0, torch.finfo(torch.float32).min)
    with torch.autocast(device.type, torch.bfloat16, enabled=half):
        logits = network(
            batch.ids.to(device),
            attention_mask=seen.to(device),
            position_ids=batch.positions.to(device),
            use_cache=False,
            logits_to_keep=columns - batch.first,
        ).logits.float()
    text, slots = logits.split((batch.width - batch.first, columns - batch.width), dim=1)
    text_targets, slot_targets = batch.targets()
    weights = discount ** torch.arange(batch.guess.shape[-1]).repeat(batch.guess.shape[1])
    autoregressive, consistency = cross_entropy(text, text_targets), cross_entropy(slots, slot_targets, weights)
    batch.advance(text.argmax(-1).cpu(), slots.argmax(-1).cpu())
    return consistency, autoregressive


def replayed(network: Any, batch: Batch, half: bool) -> Tensor:
    """The loss of the pocket's own training, nats a token, on one of its batches."""
    device = network.device
    with torch.autocast(device.type, torch.bfloat16, enabled=half):
        logits = network(torch.as_tensor(batch.ids, device=device), use_cache=False).logits
    chosen = logits.flatten(0, 1)[torch.as_tensor(batch.positions, device=device)].float()
    weights = torch.as_tensor(batch.weights, device=device)
    each = functional.cross_entropy(chosen, torch.as_tensor(batch.targets, device=device), reduction="none")
    return (each * weights).sum() / weights.sum()


def cross_entropy(logits: Tensor, targets: Tensor, weights: Tensor | None = None) -> Tensor:
    """Mean over the targets that are not ``IGNORED``, by the ``weights`` [columns], if any; 0 where all are."""
    each = functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten().to(logits.device), ignore_index=IGNORED, reduction="none"
    )
    counted = (targets != IGNORED) * (1.0 if weights is None else weights)
    return (each * counted.flatten().to(logits.device)).sum() / counted.sum().clamp(min=1e-6)
