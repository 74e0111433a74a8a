"""How many tokens to draft: from measured costs and the running acceptance rate, none where drafting does not pay.

A draft of n tokens is expected to bring (1 - a^(n+1)) / (1 - a) tokens (Leviathan et al. 2023, equation 1) for
T_draft(n) + T_verify(n + 1) seconds; of one that may end before, after each token with probability 1 - s, the tokens
are 1 + a (1 - (as)^n) / (1 - as), and those drafted (1 - s^n) / (1 - s). These tokens a second are the goodput by which
SmartSpec (Liu et al. 2024) chooses the length, 0 among them; there are no other people's requests here. Where the
abstract leaves a gap: a forward costs what is usual for its size, drafts cost what a line through the last ones says,
the acceptance is a running rate, and drafting that did not pay is tried again now and then. Must not know of models or
of drafters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from predtui.decoding.costs.constants import (
    ALMOST,
    DECIDE,
    DRAFT_DECAY,
    DRAFT_PRIOR,
    FIRST,
    HOPELESS,
    INSTANT,
    LENGTHS,
    LONGEST,
    MISSES,
    MOST_MISSES,
    MOST_PATIENCE,
    NEARLY,
    PATIENCE,
    REMEASURE,
    SELDOM,
    TRIALS,
)
from predtui.decoding.costs.curve import Curve, Line


class Scheduler:
    """The length of the next draft of one source."""

    def __init__(
        self, verify: Curve, longest: int = LONGEST, first: int = FIRST, alone: Callable[[], float] | None = None
    ) -> None:
        """``verify``: T_verify by tokens evaluated, which all sources of one target share. ``first``: tokens of a draft
        while nothing is known, or when drafting is tried again. ``alone``: seconds of a token without a draft, where
        that is no forward over one."""
        self._verify, self._draft = verify, Line()
        self._alone = alone or (lambda: verify.seconds(1))
        self._streams = False
        """Whether tokens without a draft come in one request, so that one drafted forward more is a dear trial."""
        self._longest, self._first = longest, min(first, longest)
        self._accepted, self._rejected = DRAFT_PRIOR
        self._depth = 1.0
        """Tokens on the longest path of a draft, by token of the draft; 1 for a sequence."""
        self._ended = self._grown = 0.0
        """Drafts that ended before their budget did, and tokens of drafts."""
        self._best = self._first
        self._pause, self._patience = 0, PATIENCE
        self._trials = self._drafted = self._missed = 0
        self._measuring = True
        """Whether the cost of a forward without a draft is to be measured first."""

    @property
    def rate(self) -> float:
        """Running probability that a draft's token is accepted where the one before it was."""
        return self._accepted / (self._accepted + self._rejected)

    @property
    def off(self) -> bool:
        """Whether drafting is paused because it does not pay."""
        return self._best == 0

    @property
    def known(self) -> bool:
        """Whether any draft was verified yet."""
        return self._drafted > 0

    def drafting(self, tokens: int) -> float:
        """Seconds that a draft of so many tokens takes; 0 while nothing was measured."""
        return self._draft.seconds(tokens)

    @property
    def paused(self) -> int:
        """How many forwards to do without a draft before ``budget`` is asked again."""
        return self._pause

    def waited(self, forwards: int) -> None:
        """So many were done without a draft."""
        self._pause = max(0, self._pause - forwards)

    def streamed(self, tokens: int) -> None:
        """So many came in one request, without a draft."""
        self._streams, self._measuring = True, False
        self.waited(tokens)
        if not self.off:
            self._decide(False)

    def budget(self) -> int:
        """Tokens to draft now."""
        waits = self._measuring or (self._streams and self._pause > 0)
        return 0 if waits else self._best or self._first

    def worth(self, chances: Sequence[float], seconds: float) -> int:
        """How many tokens of a draft to have verified, which took so long to make and are kept with these ``chances``:
        as many as bring the most tokens a second."""
        best = 1.0 / max(seconds + self._verify.seconds(1), INSTANT)
        count, expected = 0, 1.0
        for length, chance in enumerate(chances, 1):
            expected += chance
            speed = expected / max(seconds + self._verify.seconds(length + 1), INSTANT)
            if speed > best:
                best, count = speed, length
        return count

    def verified(self, evaluated: int) -> None:
        """A forward of the target over so many tokens, the draft and the one before it, was measured."""
        self._measuring = self._measuring and evaluated > 1

    def missed(self) -> None:
        """The source had nothing to propose. Asking costs time too, so one that goes on so is asked less often."""
        self._missed += 1
        if self._missed % MISSES == 0:
            self._pause = min(self._missed, MOST_MISSES)

    def drafted(self, proposed: int, depth: int, accepted: int, seconds: float | None) -> None:
        """What became of a draft of ``proposed`` tokens, ``depth`` of them on the path that was followed, which took
        so many seconds to make (None: not known). Raises ValueError for an empty one."""
        if proposed < 1:
            raise ValueError("an empty draft says nothing")
        self._drafted += 1
        self._missed = 0
        if seconds is not None:
            self._draft.add(proposed, seconds)
        self._accepted = self._accepted * DRAFT_DECAY + accepted
        self._rejected = self._rejected * DRAFT_DECAY + (accepted < depth)
        self._ended = self._ended * DRAFT_DECAY + (proposed < self.budget())
        self._grown = self._grown * DRAFT_DECAY + proposed
        self._depth = depth / proposed
        if self._drafted < DECIDE and accepted == depth and proposed == self._best:
            self._best = min(2 * self._best, self._longest)
        self._measuring = self._drafted % REMEASURE == 0
        hopeless = self._drafted < DECIDE and self._rejected > HOPELESS and not accepted
        if self.off or self._streams or hopeless or self._drafted % DECIDE == 0:
            self._decide(accepted == depth)

    def expected(self, length: int) -> float:
        """Tokens of a draft of so many that are accepted."""
        a = min(self.rate, ALMOST)
        return a * _series(a, length * self._depth)

    def goodput(self, length: int) -> float:
        """Tokens a second that drafts of so many tokens are expected to bring; 0: no drafts."""
        if not length:
            return 1.0 / max(self._alone(), INSTANT)
        a, goes_on = min(self.rate, ALMOST), 1 - self._ended / max(self._grown, 1.0)
        tokens = 1 + a * _series(a * goes_on, length * self._depth)
        drafted = _series(goes_on, length)
        seconds = self._verify.seconds(drafted + 1) + self._draft.seconds(drafted)
        return tokens / max(seconds, INSTANT)

    def _decide(self, whole: bool) -> None:
        """``whole``: the last draft was accepted to its end."""
        was_off = self.off
        if self._streams or 1 in self._verify:
            speeds = {length: self.goodput(length) for length in LENGTHS if length <= self._longest}
            best = max(speeds.values())
            enough = max(speeds[0], NEARLY * best)
            self._best = max(n for n, speed in speeds.items() if speed >= enough) if speeds[0] < best else 0
        if self._best:
            self._patience, self._trials = PATIENCE, 0
            return
        self._trials = self._trials + 1 if was_off and whole and not self._streams else TRIALS
        if self._trials >= TRIALS:
            self._trials, self._pause, self._measuring = 0, self._patience, True
            if self._streams:
                seldom = SELDOM * self._verify.seconds(1) / max(self._alone(), INSTANT)
                self._pause = max(self._patience, int(seldom))
            self._patience = min(2 * self._patience, MOST_PATIENCE)


def _series(ratio: float, count: float) -> float:
    """1 + ratio + ratio^2 + ..., so many terms of it."""
    return count if ratio == 1 else (1 - math.pow(ratio, count)) / (1 - ratio)
