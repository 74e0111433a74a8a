"""Fits a conversation into the model's context, whatever its length. Must not know how replies are made."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from predtui.llm.base import LoadedModel
from predtui.state.events import Message
from predtui.words import begins_word

_REMEMBERED = 4096
"""Exchanges whose sizes are remembered, so that a long conversation is not tokenised anew at every word."""

Exchange = tuple[Message, ...]


class Window:
    """Renders system prompt, history and user turn to at most ``context - reserved`` tokens.

    A conversation that has become too long loses its oldest exchanges, as many at a time as leave it half of the
    room: the beginning then stays the same for many turns, and with it what the model has cached. Which ones go is a
    function of what was said alone.
    """

    def __init__(self, loaded: LoadedModel, system: str, reserved: int) -> None:
        """``reserved``: tokens left free for the reply, at most half of the context."""
        self._loaded = loaded
        self._system = (Message("system", system),) if system else ()
        context = loaded.model.context_size
        self.budget = context - min(reserved, context // 2)
        nothing = Message("user", "")  # what follows an exchange: a template may refuse to end on a reply
        around = len(loaded.prompt_tokens([nothing]))
        self._size = lru_cache(_REMEMBERED)(
            lambda exchange: max(1, len(loaded.prompt_tokens([*exchange, nothing])) - around)
        )

    def tokens(self, history: Sequence[Message], user: str) -> list[int]:
        """The prompt [1..budget]. Where it is too long, the oldest exchanges go first, then the beginning of ``user``;
        a system prompt that leaves no room is cut from its beginning."""
        exchanges = _exchanges(history)
        if sum(map(self._size, exchanges)) <= 1.25 * self.budget:  # parts are counted apart: about the whole
            tokens = self._render(exchanges, user)
            if len(tokens) <= self.budget:
                return tokens
        exchanges = self._latest(exchanges)
        tokens = self._render(exchanges, user)
        while len(tokens) > self.budget and exchanges:
            exchanges = self._cut(exchanges)
            tokens = self._render(exchanges, user)
        begins = [at for at in range(len(user)) if begins_word(user, at)] if len(tokens) > self.budget else []
        while len(tokens) > self.budget and len(begins) > 1:
            excess = (len(tokens) - self.budget) / len(tokens)
            begins = begins[max(1, int(len(begins) * excess / 2)) :]
            tokens = self._render((), user[begins[0] :])
        return tokens[-self.budget :]

    def _latest(self, exchanges: Sequence[Exchange]) -> list[Exchange]:
        """What the turns before this one left of ``exchanges``, had each of them been cut where it did not fit."""
        kept: list[Exchange] = []
        taken = 0
        for exchange in exchanges:
            kept.append(exchange)
            taken += self._size(exchange)
            if taken > self.budget - self.budget // 8:  # the rest is for the system prompt and what the user says now
                kept = self._cut(kept)
                taken = sum(map(self._size, kept))
        return kept

    def _cut(self, exchanges: Sequence[Exchange]) -> list[Exchange]:
        """The last of ``exchanges`` that take half of the room, and at least one fewer than there are."""
        sizes = [self._size(exchange) for exchange in exchanges]
        first = 1
        while sum(sizes[first:]) > self.budget // 2:
            first += 1
        return list(exchanges[first:])

    def _render(self, exchanges: Sequence[Exchange], user: str) -> list[int]:
        history = [message for exchange in exchanges for message in exchange]
        return self._loaded.prompt_tokens([*self._system, *history, Message("user", user)])


def _exchanges(history: Sequence[Message]) -> list[Exchange]:
    """``history`` cut before each message of the user; what precedes the first one is an exchange too."""
    begins = [i for i, message in enumerate(history) if message.role == "user" or i == 0]
    return [tuple(history[begin:end]) for begin, end in pairwise([*begins, len(history)])]
