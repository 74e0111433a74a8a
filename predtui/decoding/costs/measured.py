"""What a forward costs here, by the tokens that it evaluates: measured when a model is first opened, and remembered.

Must not know what the figures are used for.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.decoding.costs.constants import MEASURING_S, NEAR, REPEATS, SIZES
from predtui.decoding.costs.instrument import Instrument
from predtui.llm.base import LanguageModel
from predtui.llm.llamacpp.findings import Findings, key_of, llama_build, processor

_FINDINGS = Findings("costs.json")


def measure(model: LanguageModel, prompt: Sequence[int], instrument: Instrument) -> None:
    """Add to the costs of ``instrument`` the seconds of forwards after ``prompt``, which the model remembers, that give
    the logits of all tokens they evaluate, as verification needs them. Sizes that do not fit the context are left out.
    Leaves ``prompt`` in the model's memory."""
    now, costs = instrument.now, instrument.costs
    began = now()
    room = model.context_size - len(prompt)
    for number, size in enumerate(size for size in SIZES if size <= room):
        for repeat in range(REPEATS):
            if now() - began > MEASURING_S and (repeat or number > 1):
                break
            start = now()
            model.forward([*prompt, *[prompt[-1]] * size], last=size)
            costs.add(size, now() - start)


def recall(model: LanguageModel, prompt: Sequence[int], instrument: Instrument, name: str) -> None:
    """``measure``, or add what was measured before of the model called ``name`` on this machine, where a forward still
    takes as long. Leaves ``prompt`` in the model's memory."""
    now, costs = instrument.now, instrument.costs
    circumstances = {"model": name, "llama.cpp": llama_build(), "processor": processor()}
    known = _read(_FINDINGS.read().get(key_of(circumstances), {}).get("verdict"))
    if known and len(prompt) < model.context_size:
        start = now()
        model.forward([*prompt, prompt[-1]])
        if known[1] / NEAR <= now() - start <= known[1] * NEAR:
            for size, seconds in known.items():
                costs.add(size, seconds)
            return
    measure(model, prompt, instrument)
    _FINDINGS.write({**circumstances, "verdict": {str(size): costs.seconds(size) for size in SIZES if size in costs}})


def _read(verdict: object) -> dict[int, float]:
    """Seconds by size, those of a forward over one token among them; nothing where the entry makes no sense."""
    try:
        known = {int(size): float(seconds) for size, seconds in verdict.items()}  # type: ignore[attr-defined]
    except (AttributeError, TypeError, ValueError):
        return {}
    sane = 1 in known and len(known) > 1 and all(size > 0 < seconds for size, seconds in known.items())
    return known if sane else {}
