"""What trained heads are worth: tokens a forward of the target, and how deep drafts are accepted, on prompts whose
replies were not learned from. Must not know how heads are trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from predtui.clock import VirtualClock
from predtui.decoding.assembly import make_decoder
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LoadedModel


def measured(
    loaded: LoadedModel, method: str, folder: Path, prompts: Sequence[Sequence[int]], limit: int
) -> dict[str, Any]:
    """Of greedy replies of at most ``limit`` tokens, with drafts that cost nothing: always drafted, as far as that is
    thought to help."""
    return watched(Parts(loaded, Greedy(), heads=folder, instrument=Instrument(VirtualClock())), method, prompts, limit)


def watched(parts: Parts, method: str, prompts: Sequence[Sequence[int]], limit: int) -> dict[str, Any]:
    """The same of the drafter ``method`` with what it needs in ``parts``."""
    decoder, target = make_decoder("speculative", parts, method), parts.target
    for prompt in prompts:
        target.model.forget()
        for _token in decoder.generate(prompt, limit, target.tokenizer.is_end):
            pass
    decoder.close()
    found = decoder.statistics
    shares = [round(count / max(1, found.drafts), 3) for count in found.depths]
    figures = {"tokens_per_forward": round(found.tokens_per_forward, 3), "accepted_by_depth": shares}
    return {**figures, "measured_on": len(prompts)}
