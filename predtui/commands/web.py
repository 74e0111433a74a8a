"""The screen in a browser, by textual-serve: every page that is opened is an app of its own. Must not know the screen.

A page of another site must not reach it: a request that names another host, or comes from another page, is refused.
"""

from __future__ import annotations

import os
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable

from predtui.errors import PredtuiError
from predtui.settings import Settings, options

try:
    from aiohttp import web
    from textual_serve.server import Server
except ImportError as error:
    raise PredtuiError(
        f"the browser needs a package that is missing: {error.name}.", "pip install 'predtui[web]'"
    ) from error

LOOPBACK = ("127.0.0.1", "localhost", "::1")
OWN_FONTS = "style-src 'self' 'unsafe-inline'; font-src 'self' data:"
"""The page asks nobody else for its font."""
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Pages(Server):
    """Says where it is, and answers its own pages alone."""

    def __init__(self, host: str, port: int, command: Iterable[str]) -> None:
        super().__init__(shlex.join(command), host, port, title="predtui")
        self._names = {f"{name}:{port}" for name in (*LOOPBACK, "[::1]")} if host in LOOPBACK else set()

    def initialize_logging(self) -> None:
        """None: what fails is said by the app."""

    async def on_startup(self, app: web.Application) -> None:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        print(f"predtui is at http://{shown}:{self.port} in a browser; Ctrl+C ends it.", flush=True)

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()

        @web.middleware
        async def own_pages(request: web.Request, handler: Handler) -> web.StreamResponse:
            if not is_own(request.host, request.headers.get("Origin", ""), self._names):
                raise web.HTTPForbidden(text="predtui answers its own pages alone.")
            self.public_url = f"http://{request.host}"  # what the page asks next is where it is
            response = await handler(request)
            if not response.prepared:
                response.headers["Content-Security-Policy"] = OWN_FONTS
            return response

        app.middlewares.append(own_pages)
        return app


def is_own(host: str, origin: str, names: set[str]) -> bool:
    """Whether a request is for one of ``names``, where there are any, and from a page of the same."""
    return (not names or host in names) and origin in ("", f"http://{host}")


def serve(settings: Settings, host: str, port: int) -> int:
    """Until Ctrl+C. Returns the exit status. Raises PredtuiError where the port is taken, or there is no such host."""
    _check(host, port)
    os.environ.update(_environment(settings))
    if host not in LOOPBACK:
        told = "whoever reaches it talks to your model, reads what is kept, and hears through your microphone"
        print(f"predtui: warning: {host} is not this machine alone: {told}.", file=sys.stderr)
    Pages(host, port, [sys.executable, "-m", "predtui"]).serve()
    return 0


def _check(host: str, port: int) -> None:
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except OSError as error:
        raise PredtuiError(
            f"{host}:{port} cannot be served: {(error.strerror or str(error)).lower()}.",
            "Choose another: --port, --host",
        ) from error


def _environment(settings: Settings) -> dict[str, str]:
    """What was chosen here, for the apps to come."""
    chosen = {key: getattr(getattr(settings, key.split(".")[0]), key.split(".")[1]) for key in options()}
    return {options()[key].variable: str(value) for key, value in chosen.items() if value != options()[key].default}
