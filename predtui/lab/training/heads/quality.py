"""What trained heads are worth: tokens a forward of the target, and how deep drafts are accepted, on prompts whose
replies were not learned from. Must not know how heads are trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from predtui.clock import VirtualClock
from predtui.decoding.assembly import make_decoder, make_drafter
from predtui.decoding.base import Drafter
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LoadedModel

DEEPEST = 8
"""Tokens of a draft whose acceptance is told."""


class Watched:
    """A drafter whose drafts are watched: how many there were, and how many of them were accepted to each depth."""

    def __init__(self, drafter: Drafter) -> None:
        self._drafter = drafter
        self.drafts = 0
        self.accepted = [0] * DEEPEST

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        return self._drafter.propose(context, budget, position)

    def observe(self, verification: Verification) -> None:
        self._drafter.observe(verification)
        self.drafts += bool(verification.draft.tokens)
        for depth in range(min(len(verification.path), DEEPEST)):
            self.accepted[depth] += 1

    def reset(self) -> None:
        self._drafter.reset()


def measured(
    loaded: LoadedModel, method: str, folder: Path, prompts: Sequence[Sequence[int]], limit: int
) -> dict[str, Any]:
    """Of greedy replies of at most ``limit`` tokens, with drafts that cost nothing: always drafted, as far as that is
    thought to help."""
    return watched(Parts(loaded, Greedy(), heads=folder, instrument=Instrument(VirtualClock())), method, prompts, limit)


def watched(parts: Parts, method: str, prompts: Sequence[Sequence[int]], limit: int) -> dict[str, Any]:
    """The same of the drafter ``method`` with what it needs in ``parts``."""
    drafter, target = Watched(make_drafter(method, parts)), parts.target
    decoder = make_decoder("speculative", replace(parts, drafter=drafter))
    for prompt in prompts:
        target.model.forget()
        for _token in decoder.generate(prompt, limit, target.tokenizer.is_end):
            pass
    shares = [round(count / max(1, drafter.drafts), 3) for count in drafter.accepted]
    figures = {"tokens_per_forward": round(decoder.statistics.tokens_per_forward, 3), "accepted_by_depth": shares}
    decoder.close()
    return {**figures, "measured_on": len(prompts)}
