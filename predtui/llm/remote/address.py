"""Where a server is, and which of its models is meant, as one name: ``URL#MODEL``. Imports nothing heavy.

Must not know of requests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from predtui.errors import PredtuiError
from predtui.settings import AUTO

FORM = "Write it as http://HOST:PORT."
_PORTS = {"http": 80, "https": 443}
_ASKED = re.compile(r"(/v1)?(/(chat/)?completions?|/models|/generate|/api/(chat|generate|tags))?/*$")
"""What an address ends with where it is that of a question, as other programs want it."""
_TLS = re.compile(r"[^/]*:443(/|$)")


@dataclass(frozen=True, slots=True)
class Address:
    """``url``: without a slash at its end, and without what is asked there. ``model``: the server's name of it; empty:
    its only one."""

    url: str
    model: str = ""

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        parts = urlsplit(self.url)
        return parts.port or _PORTS[parts.scheme]

    @property
    def place(self) -> str:
        """For a person."""
        return f"The server at {self.url}"


def reference(url: str, model: str) -> str:
    """The name of ``model`` at ``url``, as settings have both; ``model`` itself where it is such a name already."""
    if model.startswith(("http://", "https://")):
        return model
    return f"{_with_scheme(url)}#{'' if model == AUTO else model}"


def parse(name: str) -> Address:
    """The address that ``reference`` made. Raises PredtuiError for what is none, without repeating a secret in it."""
    url, _, model = name.partition("#")
    url = _with_scheme(url.strip())
    if not url:
        raise PredtuiError("The remote engine is not told where its server is.", "Give it: --url http://HOST:PORT")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in _PORTS or not host:
        raise PredtuiError("llm.url is not the address of a server.", FORM)
    if parts.username is not None or parts.password is not None or parts.query:
        raise PredtuiError(
            "llm.url holds more than an address.", f"Keys belong into the environment: PREDTUI_API_KEY. {FORM}"
        )
    path = _ASKED.sub("", parts.path)
    return Address(urlunsplit((parts.scheme, parts.netloc, path, "", "")), model)


def _with_scheme(url: str) -> str:
    """``url``, over TLS where its port is that of https, plainly where it has another, or none."""
    if not url or "://" in url:
        return url
    return f"{'https' if _TLS.match(url) else 'http'}://{url}"
