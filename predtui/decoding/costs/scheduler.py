"""How many tokens to draft: from measured costs and the running acceptance rate, none where drafting does not pay.

A draft of n tokens is expected to bring (1 - a^(n+1)) / (1 - a) tokens (Leviathan et al. 2023, equation 1) for
T_draft(n) + T_verify(n + 1) seconds; of one that may end before, after each token with probability 1 - s, the tokens
are 1 + a (1 - (as)^n) / (1 - as), and those drafted (1 - s^n) / (1 - s). Must not know of models or of drafters.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from itertools import accumulate

LONGEST = 64
"""Tokens of the longest draft."""
FIRST = 3
"""Tokens of the first draft, for most sources."""
_INSTANT = 1e-9
"""Seconds of what takes none."""
_ALMOST = 0.999
"""The highest rate to plan with: nothing is certain."""
_WINDOW, _SOLID = 9, 3
_DECAY = 0.98
_PRIOR = (4.0, 1.0)
"""Accepted and rejected tokens at the beginning."""
_PATIENCE, _MOST_PATIENCE = 32, 1024
"""Forwards without a draft until the next trial; each trial that fails doubles them."""
_TRIALS = 3
"""Drafts in a row that are accepted as a whole for no gain before a trial has failed; one that is not, fails it."""
_MISSES, _MOST_MISSES = 8, 32
"""Empty drafts in a row until a source is left alone for as many forwards, and the most of these."""
_REMEASURE = 64
"""Drafted forwards after which one without a draft is measured again."""
_LENGTHS = (*range(9), 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, LONGEST)
"""Lengths among which the best is looked for."""
_NEARLY = 0.93
"""Of the best speed: the longest draft that promises so much, and no less than none, is chosen, since a reply may end
with it, and the first of a reply is verified in the forward that reads its prompt."""
_DECIDE = 4
"""Drafted forwards from one decision to the next."""
_HOPELESS = 2.0
"""Rejected tokens, the prior's included, from which on the first decision does not wait for so many forwards."""


class Curve:
    """Seconds of a job by its size: of each size the median of the last few measurements, or that of a larger one
    which took less, since what else a machine does makes a job slower, never faster; linear between sizes, and beyond
    the largest as steep as on the whole from the second on: two neighbours tell nothing of what is far, and engines do
    a job of size 1 in another way. Sizes seen often enough speak for the others between them."""

    def __init__(self) -> None:
        self._seen: dict[int, deque[float]] = {}
        self._typical: dict[int, float] = {}
        self._sizes: list[int] = []
        self._heights: list[float] = []

    def add(self, size: int, seconds: float) -> None:
        seen = self._seen.setdefault(size, deque(maxlen=_WINDOW))
        seen.append(seconds)
        self._typical[size] = sorted(seen)[len(seen) // 2]
        self._sizes = []

    def __contains__(self, size: int) -> bool:
        return size in self._seen

    def seconds(self, size: float) -> float:
        """0 while nothing was measured; proportional up to the smallest size."""
        if not self._sizes:
            self._draw()
        after = min(bisect_left(self._sizes, size), len(self._sizes) - 1)
        if after < 1:
            return self._heights[0] * min(1.0, size / self._sizes[0]) if self._sizes else 0.0
        before = after - 1 if size <= self._sizes[after] else min(1, after - 1)
        x0, x1, y0, y1 = self._sizes[before], self._sizes[after], self._heights[before], self._heights[after]
        return y0 + (y1 - y0) * (size - x0) / (x1 - x0)

    def _draw(self) -> None:
        solid = [size for size, seen in self._seen.items() if len(seen) >= _SOLID]
        low, high = min(solid, default=0), max(solid, default=0)
        self._sizes = sorted(size for size in self._seen if not low < size < high or size in solid)
        falling = accumulate((self._typical[size] for size in reversed(self._sizes)), min)
        self._heights = [*falling][::-1]


class Line:
    """Seconds of a job by its size: a straight line through what was measured lately, neither falling nor steeper than
    in proportion."""

    def __init__(self) -> None:
        self._sums = [0.0] * 5

    def add(self, size: int, seconds: float) -> None:
        new = (1.0, size, seconds, size * size, size * seconds)
        self._sums = [_DECAY * old + more for old, more in zip(self._sums, new, strict=True)]

    def seconds(self, size: float) -> float:
        """0 while nothing was measured."""
        n, x, y, xx, xy = self._sums
        if not x:
            return 0.0
        spread = n * xx - x * x
        steepest = y / x
        slope = (n * xy - x * y) / spread if spread > _INSTANT * xx else steepest
        return y / n + min(max(slope, 0.0), steepest) * (size - x / n)


class Scheduler:
    """The length of the next draft of one source."""

    def __init__(self, verify: Curve, longest: int = LONGEST, first: int = FIRST) -> None:
        """``verify``: T_verify by tokens evaluated, which all sources of one target share. ``first``: tokens of a draft
        while nothing is known, or when drafting is tried again."""
        self._verify, self._draft = verify, Line()
        self._longest, self._first = longest, min(first, longest)
        self._accepted, self._rejected = _PRIOR
        self._depth = 1.0
        """Tokens on the longest path of a draft, by token of the draft; 1 for a sequence."""
        self._ended = self._grown = 0.0
        """Drafts that ended before their budget did, and tokens of drafts."""
        self._best = self._first
        self._pause, self._patience = 0, _PATIENCE
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

    def budget(self) -> int:
        """Tokens to draft now."""
        return 0 if self._measuring else self._best or self._first

    def worth(self, chances: Sequence[float], seconds: float) -> int:
        """How many tokens of a draft to have verified, which took so long to make and are kept with these ``chances``:
        as many as bring the most tokens a second."""
        best = 1.0 / max(seconds + self._verify.seconds(1), _INSTANT)
        count, expected = 0, 1.0
        for length, chance in enumerate(chances, 1):
            expected += chance
            speed = expected / max(seconds + self._verify.seconds(length + 1), _INSTANT)
            if speed > best:
                best, count = speed, length
        return count

    def verified(self, evaluated: int, seconds: float) -> None:
        """A forward of the target over so many tokens, the draft and the one before it, took so long."""
        self._verify.add(evaluated, seconds)
        self._measuring = self._measuring and evaluated > 1

    def missed(self) -> None:
        """The source had nothing to propose. Asking costs time too, so one that goes on so is asked less often."""
        self._missed += 1
        if self._missed % _MISSES == 0:
            self._pause = min(self._missed, _MOST_MISSES)

    def drafted(self, proposed: int, depth: int, accepted: int, seconds: float | None) -> None:
        """What became of a draft of ``proposed`` tokens, ``depth`` of them on the path that was followed, which took
        so many seconds to make (None: not known). Raises ValueError for an empty one."""
        if proposed < 1:
            raise ValueError("an empty draft tells nothing")
        self._drafted += 1
        self._missed = 0
        if seconds is not None:
            self._draft.add(proposed, seconds)
        self._accepted = self._accepted * _DECAY + accepted
        self._rejected = self._rejected * _DECAY + (accepted < depth)
        self._ended = self._ended * _DECAY + (proposed < self.budget())
        self._grown = self._grown * _DECAY + proposed
        self._depth = depth / proposed
        if self._drafted < _DECIDE and accepted == depth and proposed == self._best:
            self._best = min(2 * self._best, self._longest)
        self._measuring = self._drafted % _REMEASURE == 0
        hopeless = self._drafted < _DECIDE and self._rejected > _HOPELESS and not accepted
        if self.off or hopeless or self._drafted % _DECIDE == 0:
            self._decide(accepted == depth)

    def _decide(self, whole: bool) -> None:
        """``whole``: the last draft was accepted to its end."""
        was_off = self.off
        if 1 in self._verify:
            speeds = {length: self._tokens_per_second(length) for length in _LENGTHS if length <= self._longest}
            best = max(speeds.values())
            enough = max(speeds[0], _NEARLY * best)
            self._best = max(n for n, speed in speeds.items() if speed >= enough) if speeds[0] < best else 0
        if self._best:
            self._patience, self._trials = _PATIENCE, 0
            return
        self._trials = self._trials + 1 if was_off and whole else _TRIALS
        if self._trials >= _TRIALS:
            self._trials, self._pause, self._measuring = 0, self._patience, True
            self._patience = min(2 * self._patience, _MOST_PATIENCE)

    def _tokens_per_second(self, length: int) -> float:
        a, goes_on = min(self.rate, _ALMOST), 1 - self._ended / max(self._grown, 1.0)
        tokens = 1 + a * _series(a * goes_on, length * self._depth)
        drafted = _series(goes_on, length)
        seconds = self._verify.seconds(drafted + 1) + (self._draft.seconds(drafted) if length else 0.0)
        return tokens / max(seconds, _INSTANT)


def _series(ratio: float, count: float) -> float:
    """1 + ratio + ratio^2 + ..., so many terms of it."""
    return count if ratio == 1 else (1 - math.pow(ratio, count)) / (1 - ratio)
