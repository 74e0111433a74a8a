"""Named ways to answer, to be measured beside each other: one line each. Must not know how they are measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from predtui.decoding.assembly import AUTO, DecodingOptions
from predtui.errors import PredtuiError
from predtui.predgen.options import Rounds, SpeculationOptions
from predtui.registry import DRAFTERS, VERIFIERS
from predtui.settings import LlmSettings

BASELINE = "baseline"
PAUSE_S = LlmSettings().pause_ms / 1000


@dataclass(frozen=True, slots=True)
class Method:
    """``options`` go over the bench's own; without ``speculates`` the stage sees the final prompt only. ``pause_s``:
    the pause in which the unfinished word counts as said; 0: none."""

    options: Mapping[str, Any] = field(default_factory=dict)
    speculates: bool = True
    pause_s: float = PAUSE_S

    @property
    def needs(self) -> frozenset[str]:
        """What its decoder needs."""
        decoding = self.options.get("decoding", DecodingOptions())
        return decoding.needs if decoding.decoder != AUTO else frozenset()

    def over(self, base: SpeculationOptions) -> SpeculationOptions:
        return replace(base, **self.options)


METHODS: dict[str, Method] = {
    BASELINE: Method(speculates=False),
    **{entry.choice: Method({"verifier": entry.choice}) for entry in VERIFIERS.values()},
    **{name: Method({"decoding": DecodingOptions("speculative", name)}) for name in DRAFTERS},
    "jacobi": Method({"decoding": DecodingOptions("jacobi")}),
    "speculative": Method({"decoding": DecodingOptions("speculative", "lookup")}),
    "copying": Method({"decoding": DecodingOptions("speculative", "suffix")}),
    "drafted": Method({"decoding": DecodingOptions("speculative", "model")}),
    "paper": Method(
        {"preempts": False, "rounds": Rounds(), "memory": 1, "continuations": 0, "policy": False}, pause_s=0.0
    ),
    "no-preemption": Method({"preempts": False}),
    "no-memory": Method({"memory": 1}),
    "no-continuations": Method({"continuations": 0}),
    "guesses-model": Method({"guesses": "model"}),
    "guesses-user": Method({"guesses": "user"}),
    "guesses-both": Method({"guesses": "both"}),
    "clause": Method({"clause": True}),
    "baseline-clause": Method({"clause": True}, speculates=False),
    "independent": Method({"position_seeded": False}),
    "no-pause": Method(pause_s=0.0),
    "no-policy": Method({"policy": False}),
}
"""A verifier is a method by its own name, with all else as the app has it, and so is a drafter; the baseline is the
naive cascade; ``paper`` is greedy verification as PredGen's authors run it: one candidate, grown in rounds between
which input is looked at. ``independent`` draws afresh at each look, which shows at a temperature only. ``speculative``
drafts with the rest of the rejected candidate and with the prompt, ``copying`` with all that was said or thought of;
``drafted`` with the draft model. ``clause`` speaks the first clause before its sentence is known, and so does
``baseline-clause`` without speculation. ``guesses-model``, ``-user`` and ``-both``: which model predicts the user's
next words."""
GROUPS = {
    "ablation": (
        *(BASELINE, "paper", "greedy", "no-preemption", "no-memory", "no-continuations", "independent", "no-pause"),
        *("speculative", "copying", "drafted", "no-policy"),
    ),
    "drafters": (BASELINE, "greedy", *(name for name in DRAFTERS if "soft" not in DRAFTERS[name].needs)),
}
"""Lists of methods by a name of their own."""


def chosen(names: str) -> dict[str, Method]:
    """The methods of a comma-separated list, in its order; ``top`` with any number is one, a group stands for all that
    it lists. Raises PredtuiError for a name that is not known."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    return {name: _method(name) for one in wanted or [""] for name in GROUPS.get(one, (one,))}


def _method(name: str) -> Method:
    if name in METHODS:
        return METHODS[name]
    try:
        VERIFIERS.find(name)
    except PredtuiError:
        known = ", ".join((*METHODS, *GROUPS))
        raise PredtuiError(f"There is no method {name!r}.", f"Choose of {known}, or top and any number.") from None
    return Method({"verifier": name})
