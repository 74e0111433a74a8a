"""One request of HTTP, told in words: what may pass, what will not, and what was agreed. Only https, and http on this
machine; a key goes to the host it is meant for, and to no other. Must not know files, nor how often is tried.
"""

from __future__ import annotations

import errno
import http.client
import ipaddress
import re
import socket
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from predtui.errors import PredtuiError

_AGENT = "predtui"
_MOST_REDIRECTS = 6
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")
_DIGITS = 19
"""Of no length of a file: that many."""
_AGAIN = (408, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524)
"""Statuses that may pass."""
NO_NETWORK = "Is there a network? Try again later; what is here: predtui models list"


class PassingError(Exception):
    """What another try may not meet. ``after``: seconds that the server wants to be left alone."""

    def __init__(self, said: str, after: float = 0.0) -> None:
        super().__init__(said)
        self.after = after


class SpoiltError(PassingError):
    """What has come so far is of no use."""


class Response:
    """An answer whose body is still to be read."""

    def __init__(self, answer: Any, host: str) -> None:
        self._answer, self._host = answer, host
        self.status = int(answer.status)

    @property
    def length(self) -> int:
        """Bytes of the body, as the server tells them; -1 where it does not."""
        told = self._answer.headers.get("Content-Length", "")
        return int(told) if told.isascii() and told.isdigit() and len(told) < _DIGITS else -1

    @property
    def validator(self) -> str:
        """What the server calls this version, where that can be relied on."""
        tag = str(self._answer.headers.get("ETag") or "")
        return "" if tag.startswith("W/") else tag or str(self._answer.headers.get("Last-Modified") or "")

    def agree(self, begin: int, size: int) -> None:
        """Raises PassingError where the body is not the bytes from ``begin`` to the end of ``size``."""
        if self._answer.headers.get("Content-Encoding", "identity") != "identity":
            raise PassingError(f"{self._host} sent it compressed, which was not asked for")
        if self.status == 206:
            found = _RANGE.fullmatch(self._answer.headers.get("Content-Range", "").strip())
            if not found or int(found[1]) != begin or found[3] not in (str(size), "*"):
                raise PassingError(f"{self._host} sent another part than it was asked for")
        elif self.status != 200:
            raise PassingError(f"{self._host} answered {self.status}")
        if self.length not in (-1, size - begin):
            raise PassingError(f"{self._host} has {self.length:,} bytes, and {size - begin:,} were promised")

    def read(self, most: int) -> bytes:
        """What there is, at most ``most`` bytes; none at the end. Raises PassingError."""
        try:
            return bytes(self._answer.read1(most))
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise PassingError(f"the connection to {self._host} broke ({_said(error)})") from error


class Client:
    """``timeout``: seconds without a byte."""

    def __init__(self, timeout: float = 20.0) -> None:
        self._timeout = timeout

    def wait(self, cancelled: threading.Event, seconds: float) -> None:
        """Before another try."""
        cancelled.wait(min(seconds, 60.0))

    @contextmanager
    def open(self, address: str, token: str = "", begin: int = 0, validator: str = "") -> Iterator[Response]:
        """The answer to a request for the bytes from ``begin`` on. Raises PassingError, SpoiltError, or PredtuiError
        for what another try would meet, too."""
        check(address, near=True)
        host = host_of(address)
        request = urllib.request.Request(address, headers={"Accept-Encoding": "identity", "User-Agent": _AGENT})
        if begin:
            request.add_header("Range", f"bytes={begin}-")
        if begin and validator:
            request.add_header("If-Range", validator)
        if token:
            request.add_unredirected_header("Authorization", f"Bearer {token}")
        try:
            answer = _opener(address).open(request, timeout=self._timeout)
        except urllib.error.HTTPError as error:
            raise _refused(error, host) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _unreached(error, host) from error
        with answer:
            yield Response(answer, host)


class _Redirects(urllib.request.HTTPRedirectHandler):
    max_redirections = _MOST_REDIRECTS

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        check(newurl, near=_near(req.full_url))
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def check(address: str, near: bool) -> None:
    """Raises PredtuiError for what is not fetched: anything but https, and, if ``near``, http on this machine."""
    try:
        parts = urlsplit(address)
        scheme, host, user = parts.scheme, parts.hostname or "", parts.username
    except ValueError as error:
        raise PredtuiError(f"{address!r} is no address: {error}.", "Copy it from the browser.") from None
    if not host or user is not None or not address.isprintable() or " " in address:
        raise PredtuiError(f"{address!r} is no address of a file.", "Copy it from the browser.")
    if scheme != "https" and not (scheme == "http" and near and _near(address)):
        raise PredtuiError(f"{address} is not fetched: only https is.", "Look for an address that begins with https.")


def host_of(address: str) -> str:
    """Its host and port, to be named; all of it where it has none."""
    try:
        return urlsplit(address).netloc or address
    except ValueError:
        return address


def _near(address: str) -> bool:
    """Whether it is on this machine."""
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _opener(address: str) -> urllib.request.OpenerDirector:
    """A proxy is not asked for what is on this machine."""
    proxies = [urllib.request.ProxyHandler({})] if _near(address) else []
    return urllib.request.build_opener(_Redirects, *proxies)


def _refused(error: urllib.error.HTTPError, host: str) -> Exception:
    status = error.code
    after = error.headers.get("Retry-After", "") if error.headers else ""
    error.close()
    if status in _AGAIN:
        said = "asks to be left alone for a while" if status == 429 else "is in trouble"
        return PassingError(f"{host} {said} ({status})", float(after) if after.isascii() and after.isdigit() else 0.0)
    if status == 416:
        return SpoiltError(f"{host} has no such part of it")
    if status in (401, 403):
        return PredtuiError(
            f"{host} does not give it to you ({status}).",
            "Accept its terms on its page, and log in: hf auth login, or set HF_TOKEN.",
        )
    if status in (404, 410):
        return PredtuiError(f"{host} does not have it ({status}).", "Check the name: predtui models search WORDS")
    return PredtuiError(f"{host} answered {status}.", "Try again later, or another address.")


def _unreached(error: Exception, host: str) -> Exception:
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLCertVerificationError):
        return PredtuiError(
            f"{host} does not prove who it is: {reason.verify_message}.", "Check the clock and the network."
        )
    return PassingError(f"{host} cannot be reached: {why(reason)}")


_WHY: tuple[tuple[type[OSError], str], ...] = (
    (socket.gaierror, "its name cannot be looked up, as without a network"),
    (ConnectionRefusedError, "nobody answers there"),
    (TimeoutError, "it does not answer in time"),
    (ConnectionError, "the connection broke"),
)
_NO_WAY = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)


def why(error: BaseException | str | None) -> str:
    """Why somebody could not be reached, in plain words where it is one of the usual reasons: of ``error``, or of what
    brought it about."""
    cause: object = error
    while cause is not None and not isinstance(cause, str):
        if getattr(cause, "errno", None) in _NO_WAY:
            return "there is no network, or no way to it"
        for kind, words in _WHY:
            if isinstance(cause, kind):
                return words
        cause = getattr(cause, "__cause__", None) or getattr(cause, "__context__", None)
    return _said(error)


def look_up(address: str) -> None:
    """Raises PredtuiError at once where the host's name leads nowhere, which libraries try again and again. A proxy may
    know more names: with one, nothing is looked up."""
    if {"http", "https", "all"} & urllib.request.getproxies().keys() and not _near(address):
        return
    try:
        socket.getaddrinfo(urlsplit(address).hostname, None)
    except (OSError, UnicodeError) as error:
        raise PredtuiError(f"{host_of(address)} cannot be reached: {why(error)}.", NO_NETWORK) from error


def _said(error: Any) -> str:
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(said).splitlines()[0][:100]
