"""Waiting for a server that fails, or takes long: for whom it is worth it, and what a person is told meanwhile.

Must not know of requests, or of who tells the person.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from predtui.errors import PredtuiError


class ServiceError(PredtuiError):
    """A server behind a model. ``passing``: whether the same may succeed in a moment."""

    def __init__(self, message: str, remedy: str = "", passing: bool = False) -> None:
        super().__init__(message, remedy)
        self.passing = passing


def untold(_line: str) -> None:
    """Nobody looks on."""


class Waiting:
    """``patient``: whether a person waits, so that a server that fails is waited for too, and asked again; for what may
    not matter in a moment, it is not."""

    def __init__(self) -> None:
        self.patient = True
        self.told: Callable[[str], None] = untold
        """Told what is waited for, in a line for a person, each line once; an empty one once it goes on."""
        self._line = ""

    def say(self, line: str) -> None:
        """``line`` is waited for; empty: nothing any more."""
        line = line if self.patient else ""
        if line != self._line:
            self._line = line
            self.told(line)

    def given_up(self) -> None:
        """Whoever gave up says so."""
        self._line = ""


@runtime_checkable
class WaitingModel(Protocol):
    """A model behind a network."""

    @property
    def waiting(self) -> Waiting: ...
