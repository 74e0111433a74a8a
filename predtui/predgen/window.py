"""Fits a conversation into the model's context, whatever its length. Must not know how replies are made."""

from __future__ import annotations

from collections.abc import Sequence

from predtui.events import Message
from predtui.llm.base import LoadedModel


class Window:
    """Renders system prompt, history and user turn to at most ``context - reserved`` tokens."""

    def __init__(self, loaded: LoadedModel, system: str, reserved: int) -> None:
        """``reserved``: tokens left free for the reply, at most half of the context."""
        self._loaded = loaded
        self._system = (Message("system", system),) if system else ()
        context = loaded.model.context_size
        self.budget = context - min(reserved, context // 2)

    def tokens(self, history: Sequence[Message], user: str) -> list[int]:
        """The prompt [1..budget]. Where it is too long, the oldest exchanges go first, then the beginning of ``user``;
        a system prompt that leaves no room is cut from its beginning."""
        kept = list(history)
        tokens = self._render(kept, user)
        while len(tokens) > self.budget and kept:
            del kept[: _first_exchange(kept)]
            tokens = self._render(kept, user)
        words = user.split(" ")
        while len(tokens) > self.budget and len(words) > 1:
            excess = (len(tokens) - self.budget) / len(tokens)
            words = words[max(1, int(len(words) * excess / 2)) :]
            tokens = self._render(kept, " ".join(words))
        return tokens[-self.budget :]

    def _render(self, history: Sequence[Message], user: str) -> list[int]:
        return self._loaded.prompt_tokens([*self._system, *history, Message("user", user)])


def _first_exchange(history: Sequence[Message]) -> int:
    """How many messages the oldest exchange has: up to the next message of the user."""
    return next((i for i, message in enumerate(history) if i and message.role == "user"), len(history))
