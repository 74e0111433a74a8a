"""When a pause in typing is long for the one who types. Pure; must not know what a pause is used for."""

from __future__ import annotations

import math
from collections import deque

_INTERVALS = 9
"""Keys that tell how fast somebody writes."""
_OVERDUE = 1.5
"""So many times the usual interval without a key are a pause."""
_LONGEST_INTERVAL = 2.0
"""Seconds between two keys of one who writes."""


class Rhythm:
    """How fast somebody writes: a pause is what is long for them."""

    def __init__(self, shortest: float) -> None:
        """``shortest``: of what is called a pause, in seconds; 0: nothing is."""
        self._shortest = shortest
        self._intervals: deque[float] = deque(maxlen=_INTERVALS)
        self._last = -math.inf

    def pause(self, time: float) -> float:
        """A key came at ``time``: after how many seconds without another there is a pause; 0: never."""
        if (interval := time - self._last) < _LONGEST_INTERVAL:
            self._intervals.append(interval)
        self._last = time
        usual = sorted(self._intervals)[len(self._intervals) // 2] if self._intervals else 0.0
        return max(self._shortest, _OVERDUE * usual) if self._shortest else 0.0
