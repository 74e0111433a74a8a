"""Fits a conversation into the model's context, whatever its length. Must not know how replies are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from predtui.llm.base import LoadedModel
from predtui.predgen.notes.passages import Passage
from predtui.predgen.prompts import with_notes
from predtui.state.events import Message
from predtui.words import begins_word

Exchange = tuple[Message, ...]
Retrieve = Callable[[str, bool], Sequence[Passage]]
"""The passages of notes for a prompt, which are a guess where that is asked for."""
_NOTES_SHARE = 3
"""Of the room, one part in so many is for passages ..."""
_CHARACTERS = 3
"""... each token of which has so many characters at least, as a rule."""


def no_notes(_prompt: str, _guess: bool) -> Sequence[Passage]:
    """There are none."""
    return ()


@dataclass(frozen=True, slots=True)
class _Left:
    """What turns left of exchanges that have ``whole`` tokens in all: the last of them, each with its tokens."""

    exchanges: tuple[tuple[Exchange, int], ...] = ()
    whole: int = 0

    @property
    def taken(self) -> int:
        return sum(tokens for _, tokens in self.exchanges)


class Window:
    """Renders system prompt, history and user turn to at most ``context - reserved`` tokens.

    A conversation that has become too long loses its oldest exchanges, as many at a time as leave it half of the
    room: the beginning then stays the same for many turns, and with it what the model has cached. Which ones go is a
    function of what was said alone; it goes on from what it was for the turn before, so that a word costs no more
    after a thousand exchanges than after those that fit.
    """

    def __init__(self, loaded: LoadedModel, system: str, reserved: int, retrieve: Retrieve = no_notes) -> None:
        """``reserved``: tokens left free for the reply, at most half of the context. ``retrieve``: of the notes that
        there are."""
        self._loaded, self._retrieve = loaded, retrieve
        self._system = (Message("system", system),) if system else ()
        context = loaded.model.context_size
        self.budget = context - min(reserved, context // 2)
        self._nothing = Message("user", "")  # what follows an exchange: a template may refuse to end on a reply
        self._around = len(loaded.prompt_tokens([self._nothing]))
        self._over: tuple[tuple[Message, ...], _Left] = (), _Left()
        """The exchanges that are over of the last history, and what was left after them: the last one may go on."""
        self._last: tuple[tuple[Message, ...], _Left] = (), _Left()
        """The last history, and what was left after it."""

    def tokens(self, history: Sequence[Message], user: str, guess: bool = False) -> list[int]:
        """The prompt [1..budget], with the ``passages`` for ``user``. Where it is too long, the oldest exchanges go
        first, then the passages and the beginning of ``user``; a system prompt that leaves no room is cut from its
        beginning."""
        user = with_notes([one.text for one in self.passages(user, guess)], user)
        left = self._left(tuple(history))
        if left.whole <= 1.25 * self.budget:  # parts are counted apart: about the whole
            tokens = self._render(history, user)
            if len(tokens) <= self.budget:
                return tokens
        tokens = self._render(_messages(left), user)
        while len(tokens) > self.budget and left.exchanges:
            left = self._cut(left)
            tokens = self._render(_messages(left), user)
        begins = [at for at in range(len(user)) if begins_word(user, at)] if len(tokens) > self.budget else []
        while len(tokens) > self.budget and len(begins) > 1:
            excess = (len(tokens) - self.budget) / len(tokens)
            begins = begins[max(1, int(len(begins) * excess / 2)) :]
            tokens = self._render((), user[begins[0] :])
        return tokens[-self.budget :]

    def holds(self, user: str) -> bool:
        """Whether there is room for all of ``user``, whatever else has to go."""
        if self._bare + len(user.encode("utf-8", "replace")) < self.budget:  # no token is shorter than a byte
            return True
        return len(self._render((), user)) <= self.budget

    @cached_property
    def _bare(self) -> int:
        """Tokens of a prompt in which the user says nothing."""
        return len(self._render((), ""))

    def passages(self, user: str, guess: bool = False) -> Sequence[Passage]:
        """Those for ``user`` that there is room for; by ``guess``, they may be others once the prompt is final."""
        room, fit = self.budget * _CHARACTERS // _NOTES_SHARE, list[Passage]()
        for one in self._retrieve(user, guess):
            room -= len(one.text)
            if room >= 0:
                fit.append(one)
        return fit

    def _left(self, history: tuple[Message, ...]) -> _Left:
        """What the turns before this one left of ``history``, had each of them been cut where it did not fit."""
        last, left = self._last
        if history == last or not history:
            return left if history else _Left()
        over, left = self._over
        goes_on = len(history) > len(over) and history[: len(over)] == over and history[len(over)].role == "user"
        if not goes_on:
            over, left = (), _Left()
        *done, open_one = _exchanges(history[len(over) :])
        for exchange in done:
            left = self._after(left, exchange)
        self._over = history[: len(history) - len(open_one)], left
        self._last = history, self._after(left, open_one)
        return self._last[1]

    def _after(self, left: _Left, exchange: Exchange) -> _Left:
        size = max(1, len(self._loaded.prompt_tokens([*exchange, self._nothing])) - self._around)
        left = _Left((*left.exchanges, (exchange, size)), left.whole + size)
        room = self.budget - self.budget // 8  # the rest is for the system prompt and what the user says now
        return self._cut(left) if left.taken > room else left

    def _cut(self, left: _Left) -> _Left:
        """The last of the exchanges that take half of the room, and at least one fewer than there are."""
        first, taken = 1, left.taken - left.exchanges[0][1]
        while taken > self.budget // 2:
            taken -= left.exchanges[first][1]
            first += 1
        return _Left(left.exchanges[first:], left.whole)

    def _render(self, history: Sequence[Message], user: str) -> list[int]:
        return self._loaded.prompt_tokens([*self._system, *history, Message("user", user)])


def _messages(left: _Left) -> list[Message]:
    return [message for exchange, _ in left.exchanges for message in exchange]


def _exchanges(history: Sequence[Message]) -> list[Exchange]:
    """``history`` cut before each message of the user; what precedes the first one is an exchange too."""
    begins = [i for i, message in enumerate(history) if message.role == "user" or i == 0]
    return [tuple(history[begin:end]) for begin, end in pairwise([*begins, len(history)])]
