"""Looking ahead as work for idle time: begun by a partial prompt where it pays, given up for the next one.

Must not know of queues, or of what is looked ahead for.
"""

from __future__ import annotations

from predtui.llm.base import Preempted
from predtui.llm.waiting import ServiceError
from predtui.predgen.lookahead.lookahead import Steps
from predtui.state.events import Event

_DECAY = 0.95
"""Of what earlier prompts were saved, at each prompt."""
_DISPLACED = 0.5
"""Forwards for which a new word waits, on average."""
_PATIENCE = 20
"""Prompts until what did not pay is tried again."""


class LookaheadGate:
    """Looking ahead pays where the forwards that it saves outweigh the half forward for which a new word waits on
    average. Where it does not, it is tried again now and then."""

    def __init__(self) -> None:
        self._saved = 1.0
        self._rests = 0

    @property
    def pays(self) -> bool:
        return self._saved > _DISPLACED or self._rests >= _PATIENCE

    def observe(self, looked: bool, saved: int) -> None:
        """A new prompt came: whether it was ``looked`` ahead before, and the forwards that this has ``saved``."""
        if looked:
            self._saved = self._saved * _DECAY + (1 - _DECAY) * saved
        self._rests = 0 if looked else self._rests + 1


class IdleWork:
    """What is left to do while nothing waits."""

    def __init__(self, enabled: bool, always: bool) -> None:
        """``always``: whether or not it pays."""
        self._enabled, self._always = enabled, always
        self._gate = LookaheadGate()
        self._steps: Steps | None = None
        self.looked = False
        """Whether there was such work since the last prompt."""

    @property
    def pending(self) -> bool:
        return self._steps is not None

    @property
    def pays(self) -> bool:
        """Whether to begin it at all."""
        return self._enabled and (self._always or self._gate.pays)

    def begin(self, steps: Steps) -> None:
        self._steps, self.looked = steps, True

    def drop(self) -> None:
        """Give it up, and a request that is under way for it."""
        if self._steps is not None:
            self._steps.close()
        self._steps = None

    def prompted(self, saved: int) -> None:
        """A new prompt is answered, for which ``saved`` forwards were found done."""
        self._gate.observe(self.looked, saved)
        self.looked = False

    def step(self) -> Event | None:
        """About one forward; what is to be sent of it. Nothing is pending once no step is left, or one was
        pre-empted."""
        try:
            for step in self._steps or ():
                return step
        except Preempted:
            pass
        except ServiceError as error:
            if not error.passing:
                raise
        self._steps = None
        return None
