"""What an engine declares of its model: one value, from which all that use a model decide what they ask of it.

Whether a declaration is true is held by tests/llm/test_contract.py. Must not know of models or engines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from predtui.state.events import Proof

Verifies = Literal["exact", "regenerates"]
Rollback = int | Literal["any", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """``verifies``: exact, where ``forward`` tells the rows after all tokens that it is given, so that a candidate is
    verified in one; regenerates, where it tells none but the last, so that a candidate is generated anew and compared.

    ``rollback``: what a call costs that goes back to where the one before parted from what was remembered. any: what
    differs, however far it goes back; a number: fewer than so many tokens more; none: all is evaluated anew. A model
    behind a network knows no more of this than whether its server remembers prompts.

    ``trees``: it is a ``TreeModel``. ``tokenises``: its tokens are the network's own; if not, they stand for text,
    which is all that is told. ``generates``, ``shares``, ``spares``, ``windows``: it is a ``GeneratingModel``,
    ``SharingModel``, ``SparingModel``, ``WindowModel``.

    ``hidden``: the width of the states that it tells as a ``HiddenModel``; 0 where it tells none. ``layers``: how many
    it has as a ``LayeredModel``; 0 where it can leave out none. ``soft``: it is a ``SoftModel``.

    Of its rows: ``top`` of the likeliest tokens with log-probabilities; ``logprob``, that of any token; ``whole``, all
    logits, and so everything else."""

    verifies: Verifies
    rollback: Rollback
    top: int
    trees: bool = False
    tokenises: bool = True
    generates: bool = False
    shares: bool = False
    spares: bool = False
    windows: bool = False
    hidden: int = 0
    layers: int = 0
    soft: bool = False
    logprob: bool = False
    whole: bool = False

    @classmethod
    def of_logits(cls, vocab_size: int) -> Abilities:
        """What every engine can that has all logits, and a cache that it cuts at any token."""
        return cls(verifies="exact", rollback="any", top=vocab_size, logprob=True, whole=True)

    @property
    def proof(self) -> Proof:
        """How it shows what holds of a candidate."""
        return self.verifies if self.tokenises else "text"

    def lacking(self, whole: bool = False, top: int = 0, logprob: bool = False, exact: bool = False) -> str:
        """What is asked for and not there, as a person reads it; nothing where all is."""
        asked = (
            ("whole rows of logits", whole and not self.whole),
            (f"the {top} likeliest tokens", top > self.top and not self.whole),
            ("the log-probability of any token", logprob and not self.logprob),
            ("the likeliest tokens after each of a candidate's", exact and self.verifies != "exact"),
        )
        return next((what for what, lacks in asked if lacks), "")

    @property
    def told(self) -> str:
        """What its rows tell, where that is not everything."""
        where = "" if self.verifies == "exact" else " after its own"
        return (f"the {self.top} likeliest tokens" if self.top else "text") + where

    def __str__(self) -> str:
        """A line for a person."""
        back = _SERVED if self.generates else _BACK
        said = (
            _PROOFS[self.proof],
            back.get(self.rollback, f"goes back at the cost of fewer than {self.rollback} tokens"),
            "evaluates token trees" if self.trees else "evaluates no token trees",
            "tells its tokens" if self.tokenises else "tells text alone",
        )
        return "; ".join(said)


_PROOFS: dict[Proof, str] = {
    "exact": "verifies candidates in one forward (exact)",
    "regenerates": "generates candidates anew and compares their tokens (regenerates)",
    "text": "generates candidates anew and compares their text (regenerates)",
}
_BACK: dict[Rollback, str] = {"any": "goes back at no cost", "none": "goes back only by evaluating all anew"}
_SERVED: dict[Rollback, str] = {
    "any": "its server remembers prompts",
    "none": "its server does not say that it remembers prompts",
}
