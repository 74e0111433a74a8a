"""Decoders that keep tokens which the target would not have chosen: another reply, which may be as good, and is marked.

Typical acceptance (Medusa, Cai et al. 2024) asks how likely the target holds a token; Judge Decoding (Bachmann et al.
2025) asks a head, trained on the target's states behind tokens that did no harm and that did. Of equally long paths the
first is kept, whether or not it is the target's own. Must not know where drafts come from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from predtui.decoding import heads
from predtui.decoding.accept import Acceptance, Relaxed
from predtui.decoding.base import Decoder, Sampler
from predtui.decoding.draft import Draft
from predtui.decoding.heads import Array, Heads
from predtui.decoding.parts import Parts
from predtui.decoding.speculative import Speculative
from predtui.llm.base import tells_hidden
from predtui.llm.rows import Row, Rows
from predtui.models.shipped import asset

EPSILON = 0.09
"""A token that is likelier is always typical (as in Medusa's code)."""
_FAR = -1e4
"""A token whose logit is as far below the highest as this has no weight, as one whose logit is minus infinity."""
JUDGE, TRAINER = "judge", "judge"
"""The name of the heads, and of the command that trains them."""
WEIGHT, BIAS, THRESHOLD = "weight", "bias", "threshold"


class Typical(Relaxed):
    """Takes what has a probability above min(epsilon, delta * exp(-entropy)), with delta = sqrt(epsilon) as in the
    paper: where the target is unsure, more will do. Of its whole distribution, also where the sampler is greedy, for
    which the paper falls back on an exact match. A huge epsilon takes nothing but the choice."""

    def __init__(self, sampler: Sampler, epsilon: float = EPSILON) -> None:
        super().__init__(sampler)
        self._epsilon = math.log(epsilon)

    def takes(self, draft: Draft, rows: Rows, node: int) -> bool:
        row = rows[draft.parent(node) + 1]
        likely = row.logprob(draft.tokens[node])
        return likely > self._epsilon or likely > self._epsilon / 2 - _entropy(row)


def _entropy(row: Row) -> float:
    """Of the next token, in nats."""
    logits = row.logits.astype(np.float64)
    below = np.maximum(logits - logits.max(), _FAR)
    weights = np.exp(below)
    total = float(weights.sum())
    return math.log(total) - float(weights @ below) / total


@dataclass(frozen=True, slots=True)
class Judge:
    """Logistic regression: ``weight`` [width] and ``bias`` over the state behind a token; what comes to a chance of at
    least ``threshold`` is right. ``threshold`` above 1: nothing is."""

    weight: Array
    bias: float
    threshold: float

    def chance(self, hidden: Array) -> float:
        """That the token behind which the target has the state ``hidden`` [width] is right."""
        score = float(hidden @ self.weight) + self.bias
        return 1 / (1 + math.exp(-score)) if score > -700 else 0.0


def judge_of(found: Heads) -> Judge:
    """Raises KeyError for what is missing, ValueError for another width."""
    weight = found.weight(WEIGHT)
    if weight.shape != (found.width,):
        raise ValueError(f"its weights are {weight.shape}, not ({found.width},)")
    return Judge(weight, float(found.weight(BIAS)[0]), float(found.weight(THRESHOLD)[0]))


class Judged(Relaxed):
    """Takes what the judge holds for right; of siblings the likeliest alone, since the paper's drafts are chains and
    each further one is a chance to err; nothing in a draft's tail, behind which there are no states."""

    def __init__(self, sampler: Sampler, judge: Judge) -> None:
        super().__init__(sampler)
        self._judge = judge

    def takes(self, draft: Draft, rows: Rows, node: int) -> bool:
        likeliest = draft.children(draft.parent(node))[0]
        if node != likeliest or node >= draft.evaluated or rows.hidden is None:
            return False
        return self._judge.chance(rows.hidden[node + 1]) >= self._judge.threshold


def _speculative(parts: Parts, rule: Acceptance) -> Decoder:
    return Speculative(parts.target.model, parts.needed_drafter(), rule, parts.instrument)


def make_typical(parts: Parts, epsilon: float = EPSILON) -> Decoder:
    """``epsilon``: a number above 0."""
    return _speculative(parts, Typical(parts.sampler, epsilon))


def make_judge(parts: Parts, threshold: float | None = None) -> Decoder:
    """With the head in the folder that ``parts`` name, or with the one that ships; ``threshold``: in place of the
    head's own. Raises PredtuiError as ``heads.load``."""
    judge = heads.load(parts.heads or asset("heads"), JUDGE, parts.target, judge_of, TRAINER)
    assert tells_hidden(parts.target.model), "assembly has seen to it"
    parts.target.model.tell_hidden()
    own = judge if threshold is None else Judge(judge.weight, judge.bias, threshold)
    return _speculative(parts, Judged(parts.sampler, own))
