"""Named ways to answer, to be measured beside each other: one line each. Must not know how they are measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from predtui.errors import PredtuiError
from predtui.predgen.stage import SpeculationOptions
from predtui.predgen.verifiers import VERIFIERS

BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class Method:
    """``options`` go over the bench's own; without ``speculates`` the stage sees the final prompt only."""

    options: Mapping[str, Any] = field(default_factory=dict)
    speculates: bool = True

    def over(self, base: SpeculationOptions) -> SpeculationOptions:
        return replace(base, **self.options)


METHODS: dict[str, Method] = {
    BASELINE: Method(speculates=False),
    **{name: Method({"verifier": name}) for name in VERIFIERS},
}
"""A verifier is a method by its own name, with all else as the app has it; the baseline is the naive cascade."""


def chosen(names: str) -> dict[str, Method]:
    """The methods of a comma-separated list, in its order. Raises PredtuiError for a name that is not known."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted or [""]:
        if name not in METHODS:
            raise PredtuiError(f"There is no method {name!r}.", f"Choose of {', '.join(METHODS)}.")
    return {name: METHODS[name] for name in wanted}
