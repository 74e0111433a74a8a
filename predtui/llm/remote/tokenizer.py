"""The tokenizer of a server, asked as seldom as can be: each text once, each token once.

Must not know of HTTP, or of any particular server.
"""

from __future__ import annotations

import codecs
from collections import OrderedDict
from collections.abc import Sequence

from predtui.llm.base import SpellingTokenizer
from predtui.llm.remote.base import TokenServer, Told

KEPT = 4096
"""Texts whose tokens are remembered."""


class RemoteTokenizer:
    """A ``Tokenizer``. What generated tokens spell is learned as they arrive (``learn``), and so are the ends."""

    def __init__(self, server: TokenServer) -> None:
        self._server = server
        self._texts: OrderedDict[tuple[str, bool], tuple[int, ...]] = OrderedDict()
        self._pieces: dict[int, bytes] = {}
        self._ends: set[int] = set()
        self._near: SpellingTokenizer | None = None
        self._known = 0
        self._leading_space = self._spell(self.encode("a")).startswith(b" ")

    def encode(self, text: str, special: bool = False) -> list[int]:
        """A rendered template (``special``) begins with what the server's prompts begin with, whether or not it writes
        that."""
        if not text and not special:
            return []
        key = text, special
        if key in self._texts:
            self._texts.move_to_end(key)
            return list(self._texts[key])
        tokens = self._server.encode(text.encode("utf-8", "replace").decode(), special)
        begins = list(self._server.begins)
        if special and tokens[: len(begins)] != begins:
            tokens = begins + tokens
        self._texts[key] = tuple(tokens)
        if len(self._texts) > KEPT:
            self._texts.popitem(last=False)
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        data = self._spell(tokens)
        if self._leading_space and data.startswith(b" "):
            data = data[1:]
        return codecs.getincrementaldecoder("utf-8")("replace").decode(data)

    def is_end(self, token: int) -> bool:
        return token in self._ends

    def borrow(self, other: SpellingTokenizer, size: int) -> None:
        """As ``AskingTokenizer`` says."""
        self._near, self._known = other, size

    def learn(self, told: Told) -> bool:
        """From a token that was generated. Whether it is known if it ends a reply: one without text may."""
        if told.piece is not None:
            self._pieces[told.token] = told.piece
        if told.end:
            self._ends.add(told.token)
            self._pieces[told.token] = b""
        return bool(told.piece) or told.token in self._ends

    def _spell(self, tokens: Sequence[int]) -> bytes:
        return b"".join([self._piece(token) for token in tokens])

    def _piece(self, token: int) -> bytes:
        piece = self._pieces.get(token)
        if piece is None:
            near = self._near if token < self._known else None
            piece = self._pieces[token] = near.piece(token) if near else self._server.text(token)
        return piece
