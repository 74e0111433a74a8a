"""Samples one column of nine codes: guidance, repetition penalty, what is cut, and noise seeded by (seed, column).

The noise of a column does not depend on what was sampled before, so that a sentence that is interrupted and resumed
gets the same codes as one that is not. Must not know of models.
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
    """``guidance``: scale, 1 for none; ``temperature``: 0 for the likeliest code. ``linear``, ``confidence`` and
    ``quadratic`` as ``unified`` has them, where the first is above 0. ``top_p``: the likeliest codes that have this
    probability together, 1 for all; ``top_k``: so many of the likeliest, 0 for all; ``min_p``: share of the likeliest
    code's probability below which none is sampled; ``penalty``: on codes of the last ``window`` columns. The defaults
    are those of the checkpoint's authors."""

    guidance: float = 2.0
    temperature: float = 1.0
    linear: float = 0.0
    confidence: float = 0.0
    quadratic: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.1
    penalty: float = 3.0
    window: int = 2
    seed: int = 0


def guided(logits: Tensor, scale: float) -> Tensor:
    """Classifier-free guidance (Ho and Salimans, 2022): ``logits`` [2, 9, ids], conditional and unconditional, mixed to
    [9, ids] with weight ``scale``."""
    conditional, unconditional = logits
    mixed: Tensor = unconditional + (conditional - unconditional) * scale
    return mixed


def penalised(logits: Tensor, recent: Tensor, penalty: float) -> Tensor:
    """Repetition penalty (Keskar et al., 2019): ``logits`` [9, ids], where those of each codebook's ``recent`` codes
    [9, columns] are divided by ``penalty`` if positive, else multiplied, once per occurrence. Special ids in ``recent``
    are ignored."""
    power = torch.zeros_like(logits)
    power.scatter_add_(1, recent.clamp(max=logits.shape[1] - 1), (recent < CODES).to(logits.dtype))
    factors = penalty**power
    return torch.where(logits > 0, logits / factors, logits * factors)


def allowed(logits: Tensor) -> Tensor:
    """``logits`` [9, ids] with -inf for ids that are not codes; only codebook 0 may say EOS."""
    barred = torch.zeros_like(logits, dtype=torch.bool)
    barred[:, EOS + 1 :] = True
    barred[1:, EOS] = True
    return logits.masked_fill(barred, -torch.inf)


def unified(scores: Tensor, linear: float, confidence: float, quadratic: float) -> Tensor:
    """Linear sampling, the authors' own: of log-probabilities l [9, ids] with entropy H, l · (``linear`` + H ·
    ``confidence``) - l² · ``quadratic``. What cannot be sampled stays so."""
    log = scores.log_softmax(1).clamp(min=math.log(1e-20))
    entropy = -(log.exp() * log).sum(1, keepdim=True)
    changed = log * (linear + entropy * confidence) - log.square() * quadratic
    return changed.masked_fill(scores.isinf(), -torch.inf)


def cut(scores: Tensor, options: SamplingOptions) -> Tensor:
    """``scores`` [9, ids] with -inf for all but the likeliest, by top-p, top-k and min-p."""
    if options.top_p < 1:
        ordered, places = scores.softmax(1).sort(1, descending=True)
        beyond = ordered.cumsum(1) - ordered > options.top_p
        scores = scores.masked_fill(beyond.scatter(1, places, beyond), -torch.inf)
    if options.top_k > 0:
        least = scores.topk(min(options.top_k, scores.shape[1]), 1).values[:, -1:]
        scores = scores.masked_fill(scores < least, -torch.inf)
    if options.min_p > 0:
        least = scores.amax(dim=1, keepdim=True) + math.log(options.min_p)
        scores = scores.masked_fill(scores < least, -torch.inf)
    return scores


def sample(logits: Tensor, recent: Tensor, column: int, options: SamplingOptions) -> Tensor:
    """One id per codebook [9] for ``column``, out of guided ``logits`` [9, ids] and the ``recent`` columns [9, columns]
    before it, by the Gumbel-max trick."""
    scores = allowed(penalised(logits, recent, options.penalty))
    if options.temperature == 0:
        return scores.argmax(dim=1)
    scores = scores / options.temperature
    if options.linear > 0:
        scores = unified(scores, options.linear, options.confidence, options.quadratic)
    scores = cut(scores, options)
    noise = torch.from_numpy(randomness(options.seed, column).gumbel(size=tuple(scores.shape)))
    return (scores + noise.to(scores)).argmax(dim=1)
