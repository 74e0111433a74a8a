"""Whether answering ahead pays on this machine. Must not know of models or stages."""

from __future__ import annotations

_DECAY = 0.95
_DISPLACED = 0.5
"""Forwards."""
_PATIENCE = 20
"""Prompts until what did not pay is tried again."""


class LookaheadGate:
    """Whether looking ahead pays: what is found ready must be worth what is displaced, half a forward each time, that
    being how long new words wait for the one under way. Tried again now and then."""

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
