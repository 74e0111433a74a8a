"""What a server of language models is to this engine, once it was asked what it can. Two kinds: one takes and tells
tokens, one takes messages and tells text.

Must not know of HTTP, of any particular server, or of who asks.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from predtui.llm.abilities import Abilities, Rollback, Verifies
from predtui.llm.base import ChatTemplate
from predtui.llm.rows import PartialRow
from predtui.state.events import Message

Finish = Literal["stop", "length"]
"""Why a reply ends: the model has ended it, or it is as long as was asked for."""


@dataclass(frozen=True, slots=True)
class About:
    """What a server said of itself. ``server``: its kind and version, as a person knows them; ``model``: the name that
    requests carry. 0: not told. ``slots``: requests that it works on at once. ``caches``: whether it evaluates only
    what a prompt does not share with an earlier one."""

    server: str
    model: str
    context: int = 0
    parameters: int = 0
    vocabulary: int = 0
    slots: int = 0
    caches: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """A generated token. ``piece``: its bytes, None where they were not told. ``end``: whether it ends the reply."""

    token: int
    piece: bytes | None = None
    end: bool = False


class TokenServer(Protocol):
    """Tokens in, tokens out. Every call raises PredtuiError where the server cannot be used, and Preempted once the
    work is stale."""

    @property
    def about(self) -> About: ...

    @property
    def top(self) -> int:
        """How many of the likeliest tokens it tells of a position, at least 1."""
        ...

    @property
    def scores(self) -> bool:
        """Whether it tells them of the positions of a prompt, too (``rows``)."""
        ...

    @property
    def begins(self) -> tuple[int, ...]:
        """The tokens that a prompt begins with, once, whether or not the template writes them."""
        ...

    @property
    def unread(self) -> int:
        """Generated tokens that arrived, and that nobody read before their request was given up."""
        ...

    def generate(self, tokens: Sequence[int], limit: int) -> Generator[Told, None, None]:
        """Greedy decoding in one streamed request. Closing the generator closes the connection, at which the server
        stops computing. Ends with a token that is an ``end``, after ``limit`` tokens, or early, where the server has
        cut the reply short: another request goes on."""
        ...

    def rows(self, tokens: Sequence[int], last: int) -> list[PartialRow]:
        """The rows after each of the last ``last`` of ``tokens``, in one request that generates a token at most. Only
        ``last`` 1 where it does not ``scores``."""
        ...

    def encode(self, text: str, special: bool) -> list[int]:
        """As ``Tokenizer.encode``, without the tokens of ``begins`` unless they are spelt out."""
        ...

    def text(self, token: int) -> bytes:
        """Its bytes; none for a special token."""
        ...

    def template(self) -> ChatTemplate:
        """How it writes a conversation down."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class ChatServer(Protocol):
    """Messages in, text out: of its tokens nothing is known. Raises as ``TokenServer`` does."""

    @property
    def about(self) -> About: ...

    @property
    def continues(self) -> bool:
        """Whether a last message of the assistant's is gone on with, rather than answered."""
        ...

    @property
    def unread(self) -> int:
        """Pieces of text that arrived, and that nobody read before their request was given up."""
        ...

    def chat(self, messages: Sequence[Message], limit: int) -> Generator[str, None, Finish]:
        """The reply of at most ``limit`` tokens, greedily, in one streamed request, in pieces as they arrive; what the
        generator returns says why it ended. Closing it closes the connection."""
        ...

    def think(self, mode: str) -> str:
        """Has it think as much as ``mode`` wants (off, brief, on), or as near to that as it can be told; a line on what
        came of that. Thoughts stand in replies between the marks of ``thoughts.THINK``."""
        ...

    def close(self) -> None: ...


def abilities_of(server: TokenServer | ChatServer) -> Abilities:
    """What its model can, by what it was found to tell."""
    rollback: Rollback = "any" if server.about.caches else "none"
    if isinstance(server, ChatServer):
        return Abilities(verifies="regenerates", rollback=rollback, top=0, tokenises=False, generates=True)
    verifies: Verifies = "exact" if server.scores else "regenerates"
    return Abilities(verifies=verifies, rollback=rollback, top=server.top, generates=True)
