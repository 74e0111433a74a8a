"""Whether the last round over a sound is known before the sound has ended: a pause brings a round that may be it.

A large model hears a sound that has ended in a wider window, so not every round over all of the sound is the last one.
Must not know how rounds are run.
"""

from __future__ import annotations

from predtui.asr.whisperflow.rounds import FlowOptions, Outcome, Round
from predtui.asr.whisperflow.stream import Snapshot


class FinalRound:
    """Of one utterance, the newest round that would be no other at the sound's end."""

    def __init__(self, options: FlowOptions) -> None:
        self._options = options
        self._covered = 0.0
        """Seconds of sound that such a round was begun over."""
        self.outcome: Outcome | None = None
        """What was heard in the newest round, where it is one."""

    def covers(self, seconds: float) -> bool:
        """Whether a round that would be the last is under way, or done, over so much sound."""
        return seconds <= self._covered

    def begun(self, one: Round) -> None:
        if self._options.final(one.ended):
            self._covered = one.snapshot.end

    def given_up(self) -> None:
        self._covered = 0.0

    def done(self, outcome: Outcome) -> None:
        self.outcome = outcome if self._options.final(outcome.round.ended) else None

    def knows(self, snapshot: Snapshot) -> bool:
        """Whether ``outcome`` is what the last round over ``snapshot`` would hear."""
        if self.outcome is None:
            return False
        known = self.outcome.round.snapshot
        return (known.start, known.end) == (snapshot.start, snapshot.end)
