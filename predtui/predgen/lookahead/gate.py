"""Whether answering ahead pays on this machine. Must not know of models or stages."""

from __future__ import annotations

_DECAY = 0.95
_DISPLACED = 0.5
"""Forwards."""
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
