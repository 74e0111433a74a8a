"""Every message of the screen, as dataclasses. Only these cross from threads to the screen, and between widgets.

Knows nothing of widgets or of how the messages are answered.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from predtui.models.fetch import Progress
from predtui.runtime.typing import Typed
from predtui.state.turn import Turn


@dataclass(eq=False)
class TurnChanged(Message):
    """The latest state of the turn. A newer one takes the place of those still waiting."""

    turn: Turn

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, TurnChanged)


class DriverStarted(Message):
    """The driver's ``start`` has returned: it takes requests."""


@dataclass(eq=False)
class LineTyped(Message):
    """The input line as it stands after a key."""

    typed: Typed


@dataclass(eq=False)
class TalkHeld(Message):
    """The talk button was pressed (True) or let go (False)."""

    on: bool


@dataclass(eq=False)
class ExplainAsked(Message):
    """A person asks what the numbers of a pane mean; ``topic`` is a key of ``explain.TOPICS``."""

    topic: str


@dataclass(eq=False)
class Told(Message):
    """A line for the notice strip: what happened, and what to do."""

    text: str
    severity: str = "information"


@dataclass(eq=False)
class FetchGoesOn(Message):
    """How far the real models are. A newer one takes the place of those still waiting."""

    progress: Progress

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, FetchGoesOn)


@dataclass(eq=False)
class FetchOver(Message):
    """The real models are installed, or were cancelled, or cannot be had for a reason."""

    installed: bool
    problem: str = ""


class RealModelsHere(Message):
    """The real models have just been installed."""
