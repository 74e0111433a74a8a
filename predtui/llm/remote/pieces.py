"""A model behind a server that takes messages and tells text: words and marks stand for tokens, which it does not tell.

A piece is a word with the space before it, or one other character: however the server cuts its text, it is cut here in
the same way, so that two replies can be compared. The vocabulary grows as pieces come up. Must not know of HTTP, or of
what is said.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from predtui.llm.base import Counters, LoadedModel, check_request
from predtui.llm.remote.base import ChatServer, Finish, abilities_of
from predtui.llm.rows import Rows, Unanswered
from predtui.llm.waiting import Waiting
from predtui.state.events import Message, Role

ROLES: tuple[Role, ...] = ("system", "user", "assistant")
_MARKS = "\x01\x02\x03\x04"
"""What stands before the message of each role, and after each message."""
_END = len(ROLES)
_UNMARKED = dict.fromkeys(map(ord, _MARKS), " ")
_WIDE = "\u0e00-\u0eff\u1000-\u109f\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Letters of scripts without spaces: each is a piece."""
_WORD = rf"\s?(?:(?![{_WIDE}])\w)+"
_PIECE = re.compile(rf"[{_MARKS}]|{_WORD}|.", re.DOTALL)
_GROWS = re.compile(rf"\s|{_WORD}")
_PER_PIECE = 2
"""Tokens that a piece may take, on average over a reply."""


class Pieces:
    """A ``Tokenizer`` of what has come up so far."""

    def __init__(self) -> None:
        self._texts = list(_MARKS)
        self._numbers = {text: number for number, text in enumerate(_MARKS)}

    def __len__(self) -> int:
        return len(self._texts)

    def encode(self, text: str, special: bool = False) -> list[int]:
        return [self.number(piece) for piece in _PIECE.findall(text) if special or piece not in _MARKS]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(self._texts[token] for token in tokens if token > _END)

    def is_end(self, token: int) -> bool:
        return token == _END

    def number(self, piece: str) -> int:
        """That of a piece, new or known."""
        if piece not in self._numbers:
            self._numbers[piece] = len(self._texts)
            self._texts.append(piece)
        return self._numbers[piece]

    def messages(self, tokens: Sequence[int]) -> list[Message]:
        """What ``Marked`` wrote; the last one may be begun."""
        starts = [place for place, token in enumerate(tokens) if token < _END]
        ends = [*starts[1:], len(tokens)]
        return [
            Message(ROLES[tokens[start]], self.decode(tokens[start:end]))
            for start, end in zip(starts, ends, strict=True)
        ]


class Marked:
    """A ``ChatTemplate`` that ``Pieces`` read back."""

    def render(self, messages: Sequence[Message]) -> str:
        said = [f"{_MARKS[ROLES.index(m.role)]}{m.content.translate(_UNMARKED)}{_MARKS[_END]}" for m in messages]
        return "".join([*said, _MARKS[ROLES.index("assistant")]])


def cut(arriving: Iterator[str]) -> Iterator[str]:
    """The pieces of a text that arrives in other ones, each as soon as it cannot grow."""
    held = ""
    for more in arriving:
        found = _PIECE.findall(held + more.translate(_UNMARKED))
        grows = bool(found) and bool(_GROWS.fullmatch(found[-1]))
        held = found.pop() if grows else ""
        yield from found
    if held:
        yield held


class TextModel:
    """A ``GeneratingModel`` that generates pieces. Where its server does not go on with a reply that is begun, all of
    it is asked for anew, and what is known of it is left out as long as it is the same."""

    def __init__(self, server: ChatServer, pieces: Pieces, context: int, waiting: Waiting) -> None:
        """``context``: in pieces."""
        self.counters = Counters()
        self.context_size, self.waiting = context, waiting
        self.abilities = abilities_of(server)
        self._server, self._pieces = server, pieces

    @property
    def vocab_size(self) -> int:
        return len(self._pieces)

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        raise Unanswered("the server tells text alone")

    def generate(self, tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        check_request(tokens, 1, self.context_size)
        *messages, begun = self._pieces.messages(tokens)
        known = [] if self._server.continues else self._pieces.encode(begun.content)
        if begun.content and not known:
            messages.append(begun)
        with closing(self._requested(messages, limit + len(known))) as arriving:
            for place, token in enumerate(arriving):
                if place >= len(known):
                    yield token
                elif token != known[place]:  # another reply: what was begun stays as it is
                    yield _END
                    return

    def _requested(self, messages: Sequence[Message], limit: int) -> Generator[int, None, None]:
        """At most ``limit`` pieces of the reply, the end among them where the model has ended it."""
        self.counters.forwards += 1
        left, unread, ends = limit, self._server.unread, list[Finish]()
        try:
            with closing(self._server.chat(messages, limit * _PER_PIECE)) as text:
                for piece in cut(_told(text, ends)):
                    self.counters.generated += 1
                    left -= 1
                    yield self._pieces.number(piece)
                    if not left:
                        return
            left = 0
            if ends == ["stop"]:
                yield _END
        finally:
            self.counters.generated += self._server.unread - unread
            self.counters.cancelled += left > 0

    def think(self, mode: str) -> None:
        """As ``thinking.TellableModel``."""
        self._server.think(mode)

    def forget(self, keep: int = 0) -> None:
        """Nothing is remembered here."""

    def close(self) -> None:
        self._server.close()


def _told(text: Generator[str, None, Finish], ends: list[Finish]) -> Iterator[str]:
    """``text``; into ``ends`` goes why it ended."""
    ends.append((yield from text))


def loaded(server: ChatServer, device: str, context: int, waiting: Waiting) -> LoadedModel:
    """The model of ``server``. ``device``: its address. ``context``: tokens that a conversation with its reply may
    take."""
    about, pieces = server.about, Pieces()
    model = TextModel(server, pieces, context // _PER_PIECE, waiting)
    name = about.model.rpartition("/")[2]
    return LoadedModel(name, "remote", device, about.parameters, model, pieces, Marked())
