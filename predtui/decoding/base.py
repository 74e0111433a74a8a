"""The contracts of decoding: a sampler chooses, a drafter proposes, a decoder generates. Must not know of engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from predtui.decoding.costs.spans import WorkSpans
from predtui.decoding.draft import Draft, Verification
from predtui.llm.base import Stale, never
from predtui.llm.rows import Row
from predtui.state.events import DrafterFigures

WIDEST = 16
"""Tokens of the largest draft that branches: engines evaluate as many branches at once."""
DEEPEST = 8
"""Tokens of a draft whose acceptance is told one by one."""
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


class Verified(NamedTuple):
    """The last draft that a forward judged: ``before`` is the token that it follows; the others as in
    ``Verification``."""

    before: int
    draft: Draft
    path: tuple[int, ...]
    next_token: int | None


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
    drafts: int = 0
    """Drafts that a forward judged ..."""
    depths: tuple[int, ...] = (0,) * DEEPEST
    """... and how many of them were kept to each depth: those with at least one token kept, with at least two, ..."""
    last: tuple[int, int] = (0, 0)
    """Proposed and accepted in the last forward."""
    lossy: int = 0
    """Forwards after which the reply is no longer plain decoding's, token for token or in distribution."""
    note: str = ""
    """A line for the person while the decoder does not do what its name says: why it does not draft, for instance."""

    verified: Verified | None = field(default=None, compare=False, repr=False)
    drafters: Callable[[], tuple[DrafterFigures, ...]] = field(default=tuple, compare=False, repr=False)
    """How each source of drafts fared, where the decoder has any."""
    work: WorkSpans = field(default_factory=WorkSpans, compare=False, repr=False)
    """When target and draft were at work, where the decoder drafts."""

    def judged(self, verification: Verification) -> None:
        """Keep what may be shown of a draft, and whether the reply is still plain decoding's."""
        self.lossy += not verification.lossless
        if verification.draft.tokens:
            path, following = verification.path, verification.next_token
            self.verified = Verified(verification.context[-1], verification.draft, path, following)

    def count(self, proposed: int, accepted: int, tokens: int) -> None:
        """One more forward of the target, which brought ``tokens`` tokens of the reply."""
        self.forwards += 1
        self.tokens += tokens
        self.proposed += proposed
        self.accepted += accepted
        self.last = (proposed, accepted)
        if proposed:
            self.drafts += 1
            self.depths = tuple([count + (depth < accepted) for depth, count in enumerate(self.depths)])

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
        guesses: Sequence[Sequence[int]] = (),
    ) -> Iterator[int]:
        """Tokens after ``tokens``, as ``autoregressive.generate`` yields them, which see for the other arguments.

        ``guesses``: tokens thought to follow, the rest of an old candidate for instance, the likeliest first; a hint,
        of no effect on what is yielded. Costs a forward only when a token is asked for that is not yet known. One reply
        at a time.
        """
        ...

    def observe(self, verification: Verification) -> None:
        """A forward of the target that somebody else made of a draft: it may teach something, and brings nothing."""
        ...

    def close(self) -> None:
        """Stop what the decoder started. The models belong to whoever loaded them, and stay open."""
        ...
