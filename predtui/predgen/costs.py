"""What a forward costs here, by the tokens that it evaluates: measured when a model is opened, and whenever it works.

Must not know what the figures are used for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from predtui.clock import Clock
from predtui.decoding.scheduler import Curve
from predtui.llm.base import LanguageModel

SIZES = (1, 16, 4, 48)
"""Tokens of the forwards that are measured, the first two of them always: one tells nothing of many."""
REPEATS = 3
PATIENCE_S = 0.5
"""What takes longer altogether is left out."""
_Step = TypeVar("_Step")


def measured(model: LanguageModel, prompt: Sequence[int], clock: Clock) -> Curve:
    """Seconds of forwards after ``prompt``, which the model remembers, that give the logits of all tokens they
    evaluate, as verification needs them. Sizes that do not fit the context are left out. Leaves ``prompt`` in the
    model's memory."""
    curve, began = Curve(), clock.now()
    room = model.context_size - len(prompt)
    for number, size in enumerate(size for size in SIZES if size <= room):
        for repeat in range(REPEATS):
            if clock.now() - began > PATIENCE_S and (repeat or number > 1):
                break
            start = clock.now()
            model.logits([*prompt, *[prompt[-1]] * size], last=size)
            curve.add(size, clock.now() - start)
    return curve


def observed(steps: Iterator[_Step], model: LanguageModel, clock: Clock, costs: Curve) -> Iterator[_Step]:
    """``steps``, those of which took one forward of ``model`` each adding to its ``costs``."""
    while True:
        forwards, tokens, start = model.counters.forwards, model.counters.tokens, clock.now()
        try:
            step = next(steps)
        except StopIteration:
            return
        if model.counters.forwards == forwards + 1:
            costs.add(model.counters.tokens - tokens, clock.now() - start)
        yield step
