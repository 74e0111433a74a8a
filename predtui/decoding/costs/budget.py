"""How many tokens DuoDecoding's draft should make while the target verifies as many. Must not know of either model."""

from __future__ import annotations

import math

from predtui.decoding.costs.constants import (
    ALMOST,
    DECIDE,
    DUO_ALONE,
    DUO_DECAY,
    DUO_FIRST,
    DUO_LONGEST,
    DUO_MOST_PATIENCE,
    DUO_PATIENCE,
    DUO_PRIOR,
    DUO_REMEASURE,
    DUO_WEIGHT,
    INSTANT,
    SELDOM,
)
from predtui.decoding.costs.curve import Curve


class Budget:
    """How many tokens to draft while the target verifies as many: the n that promises the most tokens a second.

    Where T_target does not grow with n, as on a GPU, that is the paper's cost coefficient c = T_target / T_draft
    (DuoDecoding, section 3.1). At acceptance rate a, an iteration with n - 1 tokens left of a draft brings
    (1 - a^n) / (1 - a) tokens in max(T_target(n), n T_draft), and is followed by another such one with probability a^n;
    one with nothing left brings 1 token in max(T_target(1), n T_draft), and is followed by such a one with probability
    a. All is measured as decoding goes on; the target alone apart, since a draft at work beside it takes some of its
    cache and memory, and no draft is made where no n is faster than that."""

    def __init__(self, fixed: int = 0) -> None:
        self._fixed, self._best = fixed, DUO_FIRST
        self._target, self._alone, self._token = Curve(), Curve(), 0.0
        self._accepted, self._judged = DUO_PRIOR
        self._seen = self._iterations = self._idle = 0
        self._patience = DUO_PATIENCE
        self._passed, self._streams = 1, False
        """Iterations that pass with the next call of ``next``; whether tokens come in one request without a draft."""

    @property
    def off(self) -> bool:
        """Whether the target alone is as fast as with any draft."""
        return not self._fixed and not self._best

    def next(self) -> int:
        """Tokens to draft now; 0 to measure the target alone, and while drafting is off but for a trial at times."""
        if self._fixed:
            return self._fixed
        self._iterations += 1
        passed, self._passed = self._passed, 1
        first = self._iterations <= DUO_ALONE and not self._streams
        if first or self._iterations % DUO_REMEASURE == 0:
            return 0
        if self._best:
            return self._best
        idle, self._idle, patience = self._idle, self._idle + passed, self._patience
        if self._streams:
            patience = max(patience, int(SELDOM * self._target.seconds(1) / max(self._alone.seconds(1), INSTANT)))
        return DUO_FIRST if self._idle // patience > idle // patience else 0

    def streamed(self, tokens: int, seconds: float) -> None:
        """So many tokens came in one request without a draft, and one takes so long so."""
        self._streams, self._passed = True, max(1, tokens)
        self.alone(seconds)

    def alone(self, seconds: float) -> None:
        """A forward of the target over one token, with no draft beside it, took so long."""
        self._alone.add(1, seconds)

    def verified(self, evaluated: int, accepted: int, seconds: float) -> None:
        """A forward of the target over the last token and ``evaluated - 1`` drafted ones took so long."""
        self._target.add(evaluated, seconds)
        self._accepted = self._accepted * DUO_DECAY + accepted
        self._judged = self._judged * DUO_DECAY + accepted + (accepted < evaluated - 1)

    def drafted(self, tokens: int, seconds: float | None, right: bool) -> None:
        """A draft of so many tokens took so long (None: not known); ``right``: whether the target chose one of its
        first tokens."""
        self._accepted += right
        self._judged += 1
        if seconds is not None:
            weight = DUO_WEIGHT if self._token else 1.0
            self._token += (seconds / tokens - self._token) * weight
        self._seen += 1
        if self.off or self._streams or self._seen % DECIDE == 0:
            self._decide()

    def _decide(self) -> None:
        was_off, alone = self.off, self._alone.seconds(1)
        best = max(range(2, DUO_LONGEST + 1), key=self._tokens_per_second)
        self._best = best if not alone or self._tokens_per_second(best) * alone > 1 else 0
        if self._best or not was_off:
            self._patience = DUO_PATIENCE
        else:
            self._patience = min(2 * self._patience, DUO_MOST_PATIENCE)

    def _tokens_per_second(self, length: int) -> float:
        a = min(self._accepted / self._judged, ALMOST)
        whole, drafting = math.pow(a, length), length * self._token
        full = a / (1 - whole + a)  # share of iterations with something left
        tokens = full * (1 - whole) / (1 - a) + (1 - full)
        times = [max(self._target.seconds(size), drafting) for size in (length, 1)]
        return tokens / max(full * times[0] + (1 - full) * times[1], 1e-9)
