"""One exchange of a conversation: what was asked and what was answered. Must not know how either came about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user asked and what was committed as the reply. ``interrupted``: the reply was silenced on its way;
    ``heard``: the beginning of it that was heard by then, None for all. ``notes``: the names of those that the reply
    rests on."""

    user: str
    assistant: str
    interrupted: bool = False
    heard: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def remembered(self) -> str:
        """What the model is told that it has said."""
        return self.assistant if self.heard is None else self.heard

    @property
    def sources(self) -> str:
        """Where the reply comes from, as a person reads it; empty where it rests on no notes."""
        return f"from {', '.join(self.notes)}" if self.notes and self.assistant else ""

    @property
    def unheard(self) -> str:
        """The end of the reply that was not heard."""
        heard = self.remembered
        return self.assistant[len(heard) :] if self.assistant.startswith(heard) else ""
