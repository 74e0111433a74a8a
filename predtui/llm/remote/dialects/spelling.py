"""What the tokens of Hugging Face's tokenizers spell, asked of servers that run one and tell of it only text.

Such a server takes the text of a special token for that token wherever it stands. Must not know of HTTP.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from predtui.errors import PredtuiError
from predtui.llm.base import ChatTemplate
from predtui.llm.remote.base import Told
from predtui.state.events import Message

Tokenize = Callable[[str], list[int]]
Detokenize = Callable[[Sequence[int]], str]
Variables = Mapping[str, Any]
"""What a template is given beside the messages."""
Apply = Callable[[list[dict[str, str]], Variables], list[int] | None]
"""The tokens of a rendered conversation; None where the server renders none."""
_MARKS = re.compile(r"(?<=[<\[{|])")
"""Behind each of these, the text of a special token is broken off."""


class Spelling:
    """``tokenize`` adds nothing at the beginning; ``detokenize`` spells special tokens out."""

    def __init__(self, tokenize: Tokenize, detokenize: Detokenize) -> None:
        self._tokenize, self._detokenize = tokenize, detokenize
        self._letter = tokenize("a")
        self._width = len(detokenize(self._letter))
        self._pieces: dict[int, bytes] = {}

    def encode(self, text: str, special: bool) -> list[int]:
        parts = [text] if special else _MARKS.split(text)
        return [token for part in parts if part for token in self._tokenize(part)]

    def text(self, token: int) -> bytes:
        """The bytes of a token; none for a special one. Of a part of a character, those of a mark in its place."""
        if token not in self._pieces:
            spelt = self._detokenize([*self._letter, token])[self._width :]
            special = self._tokenize(spelt) == [token] != self.encode(spelt, special=False) if spelt else False
            self._pieces[token] = b"" if special else spelt.encode()
        return self._pieces[token]


class Arrival:
    """The tokens of one reply, told once the text that they spell has come: a character may take several."""

    def __init__(self, spell: Callable[[int], bytes]) -> None:
        self._spell = spell
        self._held: list[int] = []

    def take(self, tokens: Sequence[int], text: str, ended: bool) -> list[Told]:
        """What can be told after ``tokens`` and ``text`` have come. ``ended``: the last token ends the reply."""
        self._held += tokens
        if not self._held or not (text or ended):
            return []
        held, self._held = self._held, []
        end = [Told(held.pop(), b"", end=True)] if ended else []
        return [*(Told(*pair) for pair in zip(held, self._split(held, text.encode()), strict=True)), *end]

    def rest(self) -> list[Told]:
        """What is left where the reply was cut in the midst of a character."""
        held, self._held = self._held, []
        return [Told(token) for token in held]

    def _split(self, tokens: Sequence[int], data: bytes) -> list[bytes]:
        if len(tokens) == 1:
            return [data]
        alone = [self._spell(token) for token in tokens]
        if b"".join(alone) == data:
            return alone
        if len(tokens) == len(data):
            return [data[at : at + 1] for at in range(len(data))]
        return [b""] * (len(tokens) - 1) + [data] if tokens else []


class ServedTemplate:
    """A ``TellableTemplate`` that the server applies, to tokens: their text is what it has rendered."""

    source = ""
    """The server does not tell it."""

    def __init__(self, apply: Apply, detokenize: Detokenize, variables: Variables) -> None:
        self._apply, self._detokenize, self._variables = apply, detokenize, variables

    def told(self, variables: Variables) -> ServedTemplate:
        """The same template, which is given ``variables`` beside the messages."""
        return ServedTemplate(self._apply, self._detokenize, {**self._variables, **variables})

    def render(self, messages: Sequence[Message]) -> str:
        """Raises PredtuiError."""
        tokens = self._apply(plain(messages), self._variables)
        if tokens is None:
            raise PredtuiError("The server writes no prompts any more.", "Is it still the one that it was?")
        return self._detokenize(tokens)


def beside(variables: Variables) -> dict[str, Any]:
    """``variables`` as servers take them beside a conversation."""
    return {"chat_template_kwargs": dict(variables)} if variables else {}


def plain(messages: Sequence[Message]) -> list[dict[str, str]]:
    """As servers take them."""
    return [{"role": message.role, "content": message.content} for message in messages]


def template(apply: Apply, detokenize: Detokenize) -> ChatTemplate | None:
    """The server's own; None where it applies none."""
    if apply(plain([Message("user", "a")]), {}) is None:
        return None
    return ServedTemplate(apply, detokenize, {})
