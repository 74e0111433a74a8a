"""What can go wrong with a server, each in one line with what to do. Must not know of any particular kind of server."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from predtui.foreign import printable
from predtui.llm.remote.keys import VARIABLE
from predtui.llm.waiting import ServiceError

LOCAL = "Or use a model on this machine: --engine llamacpp."
NOT_JSON = 200
"""The status of an error that is a page, or any other answer than one to a question."""
_PASSING = frozenset((408, 425, 429, 500, 502, 503, 504, 529))
"""Statuses that the same request may not meet again."""
_NOT_OFFERED = frozenset((NOT_JSON, 404, 405, 410, 501))
_QUOTED = 200
"""Characters that are shown of what a server says."""


class ServerError(ServiceError):
    """``status``: the answer's, 0 where there was none. ``passing``: whether the same may succeed in a moment, which
    the server wants to be ``wait`` seconds (0: it does not say)."""

    def __init__(
        self, message: str, remedy: str = "", status: int = 0, passing: bool = False, wait: float = 0.0
    ) -> None:
        super().__init__(message, remedy, passing)
        self.status, self.wait = status, wait

    @property
    def not_offered(self) -> bool:
        """Whether the server has no such thing to ask for."""
        return self.status in _NOT_OFFERED


def unanswered(place: str, error: Exception) -> ServerError:
    """No answer from ``place``, because of ``error``."""
    told = _chain(error)
    if isinstance(error, httpx2.ConnectTimeout):
        remedy = f"Is the address right, http or https too, and the machine on? {LOCAL}"
        return ServerError(f"{place} does not answer.", remedy, 0, True)
    if isinstance(error, httpx2.TimeoutException):
        return ServerError(f"{place} has sent nothing for a minute.", f"Is it overloaded? {LOCAL}", 0, True)
    if any(isinstance(one, ssl.SSLCertVerificationError) for one in told):
        return ServerError(
            f"{place} has a certificate that this machine does not trust.",
            "Add its authority to the system's, or name its file in the environment: SSL_CERT_FILE.",
        )
    if any(isinstance(one, ssl.SSLError) for one in told):
        return ServerError(f"{place} does not speak TLS.", "Write http:// in place of https://.")
    if isinstance(error, httpx2.ConnectError):
        why = _last(told)
        return ServerError(f"{place} cannot be reached{why}.", f"Start the server, or correct --url. {LOCAL}", 0, True)
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return ServerError(f"{place} is not the address of a server.", "Write it as http://HOST:PORT.")
    if isinstance(error, httpx2.SSEError):
        return ServerError(f"{place} does not stream its replies.", LOCAL)
    return ServerError(f"{place} broke the connection off{_last(told)}.", f"Look at its log. {LOCAL}", 0, True)


def speaks_tls(place: str) -> ServerError:
    """A server that hangs up on plain HTTP, and answers TLS."""
    return ServerError(f"{place} speaks TLS.", "Write https:// in place of http://.")


def not_json(place: str) -> ServerError:
    """An answer of ``place`` that no server of language models gives."""
    return ServerError(
        f"{place} answers something that is not JSON.", f"Is it a server of language models? {LOCAL}", NOT_JSON
    )


def too_much(place: str) -> ServerError:
    """An answer without end."""
    return ServerError(f"{place} sends more than a reply can be.", f"Look at its log. {LOCAL}")


def refused(place: str, status: int, said: str, wait: float, has_key: bool) -> ServerError:
    """An answer of ``place`` with a ``status`` that is no success. ``said``: its own words; ``has_key``: whether a key
    was sent."""
    words = quoted(said)
    if status in (401, 403):
        what = "refuses the key" if has_key else "wants a key"
        return ServerError(
            f"{place} {what} (HTTP {status}).", f"Put it into the environment as {VARIABLE}. {LOCAL}", status
        )
    if status == 429:
        return ServerError(f"{place} has too much to do (HTTP 429).", f"Try again later. {LOCAL}", status, True, wait)
    if 300 <= status < 400:
        return ServerError(f"{place} sends elsewhere (HTTP {status}).", "Give the address itself as --url.", status)
    if status >= 500:
        remedy = f"Look at its log. {LOCAL}"
        return ServerError(f"{place} fails{words} (HTTP {status}).", remedy, status, status in _PASSING, wait)
    return ServerError(f"{place} refuses{words} (HTTP {status}).", LOCAL, status, status in _PASSING, wait)


def said_in_stream(place: str, said: str) -> ServerError:
    """An error in the midst of a reply."""
    return ServerError(f"{place} fails{quoted(said)}.", f"Look at its log. {LOCAL}", 500, True)


def cut_off(place: str) -> ServerError:
    """A stream that ended in good order, without a word that the reply is over."""
    remedy = f"Does it give up what one asks as soon as another does? Its log may tell. {LOCAL}"
    return ServerError(f"{place} ended its reply without saying that it is over.", remedy, 0, True)


@contextmanager
def understanding(place: str) -> Iterator[None]:
    """Within it, an answer is read: one that is not of the form that it should be raises ServerError."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        without = f": it has no {error.args[0]!r}" if isinstance(error, KeyError) and error.args else ""
        raise ServerError(
            f"{place} answers in a form that is not understood{without}.",
            f"Is it a server of language models, and a recent one? {LOCAL}",
        ) from error


def quoted(said: str) -> str:
    """A server's words as the end of a sentence of ours; empty where it has none."""
    line = printable(said).strip().rstrip(".")
    return f": {line[:_QUOTED]}" if line else ""


def _chain(error: BaseException) -> list[BaseException]:
    """``error``, what it came of, and so on."""
    found: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in found:
        found.append(one)
        one = one.__cause__ or one.__context__
    return found


def _last(told: list[BaseException]) -> str:
    """The system's own words: asyncio puts others in their place."""
    system = next((one for one in reversed(told) if isinstance(one, OSError) and one.strerror), None)
    if not isinstance(system, OSError):
        return ""
    return quoted(os.strerror(system.errno) if system.errno and system.errno > 0 else str(system.strerror))
