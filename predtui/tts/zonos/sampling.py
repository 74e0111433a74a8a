"""Nine codes out of nine rows of logits: guidance, repetition penalty, min-p, and noise tied to (seed, column).

As the noise of a column does not depend on what was computed before, a sentence that is interrupted and resumed gets
the codes of one that is not. Must not know of models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from predtui.decoding.sampler import randomness
from predtui.tts.zonos.config import CODES, EOS


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """``guidance`` 1 is none; ``window``: columns whose codes the penalty makes less likely; temperature 0: the
    likeliest code. The defaults are those the checkpoint was published with."""

    guidance: float = 2.0
    temperature: float = 1.0
    min_p: float = 0.1
    penalty: float = 3.0
    window: int = 2
    seed: int = 0


def guided(logits: Tensor, scale: float) -> Tensor:
    """Classifier-free guidance: ``logits`` [2, 9, ids], conditional and unconditional, as one [9, ids]."""
    conditional, unconditional = logits
    mixed: Tensor = unconditional + (conditional - unconditional) * scale
    return mixed


def penalised(logits: Tensor, recent: Tensor, penalty: float) -> Tensor:
    """``logits`` [9, ids] with those of each codebook's ``recent`` codes [9, columns] divided by the penalty where they
    are positive, else multiplied, once an occurrence. Special ids in ``recent`` count for nothing."""
    power = torch.zeros_like(logits)
    power.scatter_add_(1, recent.clamp(max=logits.shape[1] - 1), (recent < CODES).to(logits.dtype))
    factors = penalty**power
    return torch.where(logits > 0, logits / factors, logits * factors)


def allowed(logits: Tensor) -> Tensor:
    """``logits`` [9, ids] without ids that are no codes; only codebook 0 may end the sentence."""
    barred = torch.zeros_like(logits, dtype=torch.bool)
    barred[:, EOS + 1 :] = True
    barred[1:, EOS] = True
    return logits.masked_fill(barred, -torch.inf)


def sample(logits: Tensor, recent: Tensor, column: int, options: SamplingOptions) -> Tensor:
    """One id a codebook [9] out of guided logits [9, ids] for ``column``, by Gumbel-max."""
    scores = allowed(penalised(logits, recent, options.penalty))
    if options.temperature == 0:
        return scores.argmax(dim=1)
    scores = scores / options.temperature
    if options.min_p > 0:
        least = scores.amax(dim=1, keepdim=True) + math.log(options.min_p)
        scores = scores.masked_fill(scores < least, -torch.inf)
    noise = torch.from_numpy(randomness(options.seed, column).gumbel(size=tuple(scores.shape)))
    return (scores + noise.to(scores)).argmax(dim=1)
