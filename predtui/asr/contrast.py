"""Does a sound rise and fall as one person's speech does, who is near? A babble of far voices hardly does: their
syllables fill each other's gaps. Must not know of words.
"""

from __future__ import annotations

import math

import numpy as np

LEAST_DB = 14.0
"""Between the loud and the soft hundredths of a second of what is voiced. Six voices at once stay below it in stretches
of four seconds and more (at most 13.5 of 120 s), one voice above, over noise or babble 15 dB softer than it (at least
15.4 of 56 utterances) and mostly over one 10 dB softer. ``predtui bench noise`` has the babble."""
SURE_DB = 18.0
"""No stretch of that babble of a second and more reaches it."""
LOUD, SOFT = 95, 10
"""Percentiles."""
ENOUGH_SECONDS = 0.5
"""Voiced sound below which nothing is said of it."""


class Contrast:
    """Of one utterance, from 16-bit mono sound of ``rate`` Hz."""

    def __init__(self, rate: int) -> None:
        self._hundredth = rate // 100
        self._levels: list[float] = []
        self._rest = np.zeros(0)

    def push(self, pcm: bytes) -> None:
        """More of what is voiced."""
        samples = np.concatenate([self._rest, np.frombuffer(pcm, np.int16) / 32768])
        whole = len(samples) // self._hundredth * self._hundredth
        power = np.square(samples[:whole]).reshape(-1, self._hundredth).mean(axis=1)
        self._levels += (10 * np.log10(power + 1e-12)).tolist()
        self._rest = samples[whole:]

    @property
    def told(self) -> bool:
        """Whether there is enough of the sound to tell."""
        return len(self._levels) >= ENOUGH_SECONDS * 100

    @property
    def flat(self) -> bool:
        """Whether nobody near speaks."""
        return self._range() < LEAST_DB

    @property
    def doubtful(self) -> bool:
        """Whether more of the sound may yet show that nobody near speaks."""
        return not self._range() >= SURE_DB

    def _range(self) -> float:
        """In dB; of what is too short to tell, not a number, which is on neither side of any bound."""
        if not self.told:
            return math.nan
        loud, soft = np.percentile(self._levels, [LOUD, SOFT])
        return float(loud - soft)
