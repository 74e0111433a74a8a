"""What decoders and drafters are made of. Must not know which there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from predtui.clock import RealClock
from predtui.decoding import datastore
from predtui.decoding.base import Drafter, Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.paced import PacedDrafter
from predtui.decoding.memory import Allowance
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, Stale


class Learns(Protocol):
    """What goes on learning while nothing else is to be done."""

    notes: list[str]
    """Lines for a person, for whoever shows them to take away."""

    def learn(self, stale: Stale) -> bool:
        """A piece of work of a few milliseconds, none where it is ``stale``; whether any is left."""
        ...

    def close(self) -> None:
        """Keep what was learnt; nothing is learnt any more."""
        ...


@dataclass(frozen=True, slots=True)
class Parts:
    """``draft``: the smaller model, where there is one. ``store``: a folder that ``predtui train rest`` wrote; None:
    the one it writes by default. ``heads``: the folder of trained heads; None: those that ship. ``drafter``: what the
    decoder drafts with, where it takes one. ``memory``: what may be kept to draft with. ``instrument``: what measures
    the target's forwards.
    ``learns``: whether what can go on learning may; it then stands in ``learners``. ``learnt``: the folder in which
    that is kept; None: nowhere."""

    target: LoadedModel
    sampler: Sampler
    draft: LoadedModel | None = None
    store: Path | None = None
    heads: Path | None = None
    drafter: Drafter | PacedDrafter | None = None
    memory: Allowance = field(default_factory=Allowance)
    instrument: Instrument = field(default_factory=lambda: Instrument(RealClock()))
    learns: bool = True
    learnt: Path | None = None
    learners: list[Learns] = field(default_factory=list)

    def needed_draft(self) -> LoadedModel:
        """``draft``, where there has to be one. Raises PredtuiError."""
        if self.draft is None:
            raise PredtuiError("There is no draft model.", "Name one with --draft.")
        return self.draft

    def needed_drafter(self) -> Drafter | PacedDrafter:
        """``drafter``, where there has to be one. Raises PredtuiError."""
        if self.drafter is None:
            raise PredtuiError("There is no drafter.", "Name one with --drafter.")
        return self.drafter

    def needed_datastore(self) -> datastore.Datastore:
        """What the folder holds. Raises PredtuiError as ``datastore.load``."""
        return datastore.load(self.store or datastore.default_folder(), self.target)
