"""The contracts of decoding: a drafter proposes, a verifier decides, a sampler chooses. Must not know of engines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from predtui.decoding.costs.spans import WorkSpans
from predtui.llm.base import Stale, never
from predtui.llm.rows import Row, Rows

WIDEST = 16
"""Tokens of the largest draft that branches: engines evaluate as many branches at once."""
Probabilities = npt.NDArray[np.float64]
"""[vocab], summing to 1."""


class Sampler(Protocol):
    """Chooses a token out of a row. Its randomness is a function of (seed, position) alone, so that any order of
    evaluation gives the same choice at the same position."""

    @property
    def seed(self) -> int: ...

    @property
    def whole(self) -> bool:
        """Whether it has to know whole rows of logits."""
        ...

    def choose(self, row: Row, position: int) -> int:
        """The token of ``row`` at absolute ``position`` of the reply (0 = its first token)."""
        ...

    def probabilities(self, row: Row) -> Probabilities:
        """The distribution that ``choose`` draws from. Raises Unanswered where the row is not whole."""
        ...


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens. ``parents[i]`` < i is the index of token i's parent (-1 = the context), the likeliest sibling
    first; empty = a plain sequence. ``q`` [len(tokens), vocab]: the distribution that each token was drawn from, given
    its parent and the siblings before it."""

    tokens: tuple[int, ...]
    parents: tuple[int, ...] = ()
    q: npt.NDArray[np.float64] | None = None
    """None: each token was certain to be proposed."""
    source: str = ""
    chances: tuple[float, ...] = ()
    """How likely each token is thought to be kept, never growing; empty where the source cannot tell."""

    def first(self, count: int) -> Draft:
        """Its first ``count`` tokens."""
        if count >= len(self.tokens):
            return self
        q = None if self.q is None else self.q[:count]
        return Draft(self.tokens[:count], self.parents[:count], q, self.source, self.chances[:count])

    def child(self, node: int, token: int) -> int:
        """Index of the child of ``node`` (-1 = the context) that is ``token``; -1 where there is none."""
        return next((i for i in self.children(node) if self.tokens[i] == token), -1)

    def children(self, node: int) -> Sequence[int]:
        """Indices of what may follow ``node``, the likeliest first."""
        if not self.parents:
            return range(node + 1, min(node + 2, len(self.tokens)))
        return [i for i in range(node + 1, len(self.tokens)) if self.parents[i] == node]

    def depth(self, path: Sequence[int]) -> int:
        """Tokens of ``path`` and of the likeliest ones after it."""
        if not self.parents:
            return len(self.tokens)
        count = len(path)
        node = path[-1] if path else -1
        while below := self.children(node):
            node, count = below[0], count + 1
        return count

    def best_path(self) -> Draft:
        """The sequence of the likeliest children: what an engine without trees can verify."""
        if not self.parents:
            return self
        path: list[int] = []
        while below := self.children(path[-1] if path else -1):
            path.append(below[0])
        tokens, q = tuple(self.tokens[i] for i in path), None if self.q is None else self.q[path]
        return Draft(tokens, (), q, self.source, tuple(self.chances[i] for i in path) if self.chances else ())


@dataclass(frozen=True, slots=True)
class Verification:
    """``accepted`` tokens of the candidate hold, in order; ``next_token`` is the target's own choice after them
    (None when nothing follows: the candidate was accepted to its end token).

    ``rows``: what the target's forward gave after each of the ``evaluated`` tokens, which are the last of the context
    and all of the draft; for drafters that learn from it.
    """

    accepted: tuple[int, ...]
    next_token: int | None
    lossless: bool
    evaluated: tuple[int, ...] = ()
    rows: Rows | None = field(default=None, compare=False, repr=False)
    more: bool = False
    """Whether a candidate goes on after what is accepted, still to be verified."""

    @property
    def tokens(self) -> tuple[int, ...]:
        """All that follows the context now: what was accepted and what comes after it."""
        return self.accepted if self.next_token is None else (*self.accepted, self.next_token)


class Verifier(Protocol):
    """Decides how much of a candidate holds."""

    def verify(
        self,
        prompt: Sequence[int],
        candidate: Sequence[int],
        others: Sequence[Sequence[int]] = (),
        spare: float = math.inf,
    ) -> Iterator[Verification]:
        """How much of ``candidate`` holds, or of that one of ``others`` of which more does, where the verifier judges
        several at once. ``prompt`` and each of them together fit the model's context; an empty candidate is allowed,
        and costs the forward that chooses the reply's first token. ``spare``: the seconds that may be lost on
        candidates of which nothing holds, where the verifier knows what forwards cost. Told after each forward; all but
        the last say that there is ``more``."""
        ...


class Drafter(Protocol):
    """A source of guesses: a smaller model, the prompt itself, a datastore, ..."""

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        """At most ``budget`` tokens that may follow ``context``, the last ``position`` of which belong to the reply."""
        ...

    def observe(self, verification: Verification) -> None:
        """What the target made of the last proposal, or of what was tried in its place."""
        ...

    def reset(self) -> None:
        """Forget the present reply; what was learnt from earlier ones may stay."""
        ...


@dataclass(slots=True)
class DecodingStatistics:
    """What a decoder has done, cumulative over all replies."""

    tokens: int = 0
    """Tokens of replies."""
    forwards: int = 0
    """Forwards of the target."""
    proposed: int = 0
    """Draft tokens that a forward of the target judged ..."""
    accepted: int = 0
    """... and those of them that it kept."""
    last: tuple[int, int] = (0, 0)
    """Proposed and accepted in the last forward."""
    note: str = ""
    """A line for the person while the decoder does not do what its name says: why it does not draft, for instance."""

    work: WorkSpans = field(default_factory=WorkSpans, compare=False, repr=False)
    """When target and draft were at work, where the decoder drafts."""

    def count(self, proposed: int, accepted: int, tokens: int) -> None:
        """One more forward of the target, which brought ``tokens`` tokens of the reply."""
        self.forwards += 1
        self.tokens += tokens
        self.proposed += proposed
        self.accepted += accepted
        self.last = (proposed, accepted)

    @property
    def acceptance_rate(self) -> float:
        """Share of the proposed tokens that were kept; 0 before any."""
        return self.accepted / self.proposed if self.proposed else 0.0

    @property
    def tokens_per_forward(self) -> float:
        """Tokens of replies a forward of the target; 0 before any."""
        return self.tokens / self.forwards if self.forwards else 0.0


class Decoder(Protocol):
    """Tokens of a reply out of a context. A lossless one yields exactly what autoregressive decoding with the same
    sampler yields."""

    statistics: DecodingStatistics

    def generate(
        self,
        tokens: Sequence[int],
        limit: int,
        is_end: Callable[[int], bool],
        stale: Stale = never,
        position: int = 0,
        guess: Sequence[int] = (),
    ) -> Iterator[int]:
        """Tokens after ``tokens``, as ``autoregressive.generate`` yields them, which see for the other arguments.

        ``guess``: tokens thought to follow, the rest of an old candidate for instance; a hint, of no effect on what
        is yielded. Costs a forward only when a token is asked for that is not yet known. One reply at a time.
        """
        ...

    def close(self) -> None:
        """Stop what the decoder started. The models belong to whoever loaded them, and stay open."""
        ...
