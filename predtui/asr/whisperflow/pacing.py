"""When the next round is made, how widely it searches and how many rounds have to agree: by what the last ones took.

A machine that has other work to do makes rounds longer. A round that takes longer than its step is made less often; one
that takes much longer searches with one hypothesis; one that would take longer than anyone waits for is left until the
sound has ended, or the buffer is full. So the last round never waits long for another, whatever the machine. Pure: no
clock, no sound.
"""

from __future__ import annotations

from collections import deque

SHARE = 0.5
"""Of the time, at most so much goes to rounds: the language model wants the same cores."""
LONGEST_SECONDS = 2.0
"""That a round over sound that goes on may take: whoever ends a turn meanwhile waits for it."""
FAR_SECONDS = 0.5
"""Rounds so far apart seldom make the same mistake: two of them have to agree, not more. One that takes so long is to
search with one hypothesis."""
_AROUND = 1.0
"""A round takes as long as for so much more sound, for what is done however short the sound is."""


class Pacing:
    """Paces the rounds of one utterance after another. ``step``: seconds of sound between rounds, at least; ``beam``:
    hypotheses; ``rounds`` that have to agree; ``pipelined``: the next is encoded while the last is decoded, so that no
    time is kept free between them; ``measured``: seconds of a round over half a second of sound, 0 if not known;
    ``padded``: seconds that every sound is padded to."""

    def __init__(
        self,
        step: float,
        beam: int,
        rounds: int,
        pipelined: bool = False,
        measured: float = 0.0,
        padded: float = 0.0,
    ) -> None:
        self._step, self._beam, self._rounds, self._pipelined = step, beam, rounds, pipelined
        self._padded = padded
        self._rates: deque[float] = deque([measured / self._length(0.5)] if measured else [], maxlen=2)
        self.start()

    def start(self) -> None:
        """A new utterance: with every hypothesis, until a round takes too long."""
        self.step, self.beam = self._step, self._beam

    def took(self, sound: float, seconds: float) -> None:
        """The round over so many seconds of ``sound`` took so many ``seconds``."""
        self._rates.append(seconds / self._length(sound))
        self.step = self._step if self._pipelined else max(self._step, seconds / SHARE)
        if seconds > FAR_SECONDS:
            self.beam = 1

    def pays(self, sound: float) -> bool:
        """Whether a round over so many seconds of ``sound``, which may go on, is worth its time."""
        return self._expected(sound) <= LONGEST_SECONDS

    def quick(self, sound: float) -> bool:
        """Whether it takes so little that each pause may have one."""
        return self._expected(sound) <= FAR_SECONDS

    def agreeing(self, sound: float, full: bool) -> int:
        """How many rounds have to agree on a word in so much ``sound``; one, where the buffer is ``full`` and no other
        is made over it."""
        if full and not self.pays(sound):
            return 1
        return min(self._rounds, 2) if self.step >= FAR_SECONDS else self._rounds

    def _expected(self, sound: float) -> float:
        """Seconds of such a round. One that took long once, and no more, tells of a moment and not of the machine."""
        return min(self._rates, default=0.0) * self._length(sound)

    def _length(self, sound: float) -> float:
        """What the time of a round over so much ``sound`` is in proportion to, about."""
        return max(sound, self._padded) + _AROUND
