"""The contracts of decoding: a drafter proposes, a verifier decides, a sampler chooses. Must not know of engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from predtui.llm.base import Logits


class Sampler(Protocol):
    """Chooses a token out of logits. Its randomness is a function of (seed, position) alone, so that any order of
    evaluation gives the same choice at the same position."""

    def choose(self, logits: Logits, position: int) -> int:
        """``logits`` [vocab] at absolute ``position`` of the reply (0 = its first token)."""
        ...


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens. ``parents[i]`` is the index of token i's parent (-1 = the context); empty = a plain sequence.
    ``q`` [len(tokens), vocab] are the draft's probabilities, where sampling needs them."""

    tokens: tuple[int, ...]
    parents: tuple[int, ...] = ()
    q: npt.NDArray[np.float32] | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """``accepted`` tokens of the candidate hold, in order; ``next_token`` is the target's own choice after them
    (None when nothing follows: the candidate was accepted to its end token)."""

    accepted: tuple[int, ...]
    next_token: int | None
    lossless: bool


class Verifier(Protocol):
    """Decides how much of a candidate holds."""

    def verify(self, prompt: Sequence[int], candidate: Sequence[int]) -> Verification:
        """``prompt`` and ``candidate`` together fit the model's context; an empty candidate is allowed, and costs the
        forward that chooses the reply's first token."""
        ...


class Drafter(Protocol):
    """A source of guesses: a smaller model, the prompt itself, a datastore, ..."""

    def propose(self, context: Sequence[int], budget: int) -> Draft: ...

    def observe(self, verification: Verification) -> None: ...

    def reset(self) -> None: ...
