"""What a forward costs here, by the tokens that it evaluates: measured when a model is first opened, remembered, and
measured whenever it works.

Must not know what the figures are used for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from predtui.clock import Clock
from predtui.decoding.costs.constants import MEASURING_S, NEAR, REPEATS, SIZES
from predtui.decoding.costs.curve import Curve
from predtui.llm.base import LanguageModel
from predtui.llm.llamacpp.findings import Findings, key_of, llama_build, processor

_FINDINGS = Findings("costs.json")
_Step = TypeVar("_Step")


def measured(model: LanguageModel, prompt: Sequence[int], clock: Clock) -> Curve:
    """Seconds of forwards after ``prompt``, which the model remembers, that give the logits of all tokens they
    evaluate, as verification needs them. Sizes that do not fit the context are left out. Leaves ``prompt`` in the
    model's memory."""
    curve, began = Curve(), clock.now()
    room = model.context_size - len(prompt)
    for number, size in enumerate(size for size in SIZES if size <= room):
        for repeat in range(REPEATS):
            if clock.now() - began > MEASURING_S and (repeat or number > 1):
                break
            start = clock.now()
            model.forward([*prompt, *[prompt[-1]] * size], last=size)
            curve.add(size, clock.now() - start)
    return curve


def remembered(model: LanguageModel, prompt: Sequence[int], clock: Clock, name: str) -> Curve:
    """``measured``, or what was measured before of the model called ``name`` on this machine, where a forward still
    takes as long. Leaves ``prompt`` in the model's memory."""
    circumstances = {"model": name, "llama.cpp": llama_build(), "processor": processor()}
    known = _read(_FINDINGS.read().get(key_of(circumstances), {}).get("verdict"))
    if known and len(prompt) < model.context_size:
        start = clock.now()
        model.forward([*prompt, prompt[-1]])
        if known[1] / NEAR <= clock.now() - start <= known[1] * NEAR:
            curve = Curve()
            for size, seconds in known.items():
                curve.add(size, seconds)
            return curve
    curve = measured(model, prompt, clock)
    _FINDINGS.write({**circumstances, "verdict": {str(size): curve.seconds(size) for size in SIZES if size in curve}})
    return curve


def _read(verdict: object) -> dict[int, float]:
    """Seconds by size, those of a forward over one token among them; nothing where the entry makes no sense."""
    try:
        known = {int(size): float(seconds) for size, seconds in verdict.items()}  # type: ignore[attr-defined]
    except (AttributeError, TypeError, ValueError):
        return {}
    sane = 1 in known and len(known) > 1 and all(size > 0 < seconds for size, seconds in known.items())
    return known if sane else {}


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
