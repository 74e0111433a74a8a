"""Every message of the screen, as dataclasses. Only these cross from threads to the screen, and between widgets.

Knows nothing of widgets or of how the messages are answered.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from predtui.turn import Turn


@dataclass(eq=False)
class TurnChanged(Message):
    """The latest state of the turn. A newer one takes the place of those still waiting."""

    turn: Turn

    def __post_init__(self) -> None:
        super().__init__()

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, TurnChanged)


class KeyStruck(Message):
    """The input line was changed in any way: enough to silence a reply being spoken."""


@dataclass(eq=False)
class WordsTyped(Message):
    """The input line holds other finished words than before; ``final`` when Enter ended the turn."""

    text: str
    final: bool = False

    def __post_init__(self) -> None:
        super().__init__()


@dataclass(eq=False)
class TalkHeld(Message):
    """The talk button was pressed (True) or let go (False)."""

    on: bool

    def __post_init__(self) -> None:
        super().__init__()


@dataclass(eq=False)
class ExplainAsked(Message):
    """A person asks what the numbers of a pane mean; ``topic`` is a key of ``explain.TOPICS``."""

    topic: str

    def __post_init__(self) -> None:
        super().__init__()


@dataclass(eq=False)
class Told(Message):
    """A line for the notice strip: what happened, and what to do."""

    text: str
    severity: str = "information"

    def __post_init__(self) -> None:
        super().__init__()
