"""What a sound check tells. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["found", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Say:
    """What a person should do now."""

    text: str


@dataclass(frozen=True, slots=True)
class Level:
    """How loud the microphone was in the last tenth of a second, in dBFS: of a full-scale square wave 0."""

    decibels: float


@dataclass(frozen=True, slots=True)
class Found:
    """One line of what was found. ``needed``: without it, nobody is heard, or hears."""

    subject: str
    state: State
    text: str
    remedy: str = ""
    needed: bool = False


Told = Say | Level | Found
