"""What a forward costs here, by the tokens that it evaluates: a few milliseconds of measurement when a model is opened.

Must not know what the figures are used for.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.clock import Clock
from predtui.decoding.scheduler import Curve
from predtui.llm.base import LanguageModel

SIZES = (1, 4, 16, 48)
"""Tokens of the forwards that are measured."""
REPEATS = 3
PATIENCE_S = 0.5
"""What takes longer altogether is left out: the curve goes on as it ended."""


def measured(model: LanguageModel, prompt: Sequence[int], clock: Clock) -> Curve:
    """Seconds of forwards after ``prompt`` that give the logits of all tokens they evaluate, as verification needs
    them. Sizes that do not fit the context are left out. Leaves ``prompt`` in the model's memory."""
    curve, began = Curve(), clock.now()
    room = model.context_size - len(prompt)
    for size in (size for size in SIZES if size <= room):
        for _ in range(REPEATS):
            if clock.now() - began > PATIENCE_S and 1 in curve:
                return curve
            start = clock.now()
            model.logits([*prompt, *[prompt[-1]] * size], last=size)
            curve.add(size, clock.now() - start)
    return curve
