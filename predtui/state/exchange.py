"""One exchange of a conversation: what was asked and what was answered. Must not know how either came about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user asked and what was committed as the reply. ``interrupted``: the reply was silenced on its way;
    ``heard``: the beginning of it that was heard by then, None for all."""

    user: str
    assistant: str
    interrupted: bool = False
    heard: str | None = None

    @property
    def remembered(self) -> str:
        """What the model is told that it has said."""
        return self.assistant if self.heard is None else self.heard

    @property
    def unheard(self) -> str:
        """The end of the reply that was not heard."""
        heard = self.remembered
        return self.assistant[len(heard) :] if self.assistant.startswith(heard) else ""
