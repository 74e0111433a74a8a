"""A model behind a network, as an engine of the registry. Imports the client when it is asked for a server.

Must not know of any particular server, or of prompts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from predtui.clock import Clock, RealClock
from predtui.llm.base import LoadedModel, ModelRequest
from predtui.llm.remote.address import parse
from predtui.state.events import Proof

if TYPE_CHECKING:
    from predtui.llm.remote.client import Link
    from predtui.llm.remote.probe import Server

CONTEXT = 4096
"""Tokens, where neither the server nor the settings say."""
LOADING_S, LOOK_S = 1800.0, 0.5
"""The longest that a server may load its model, and how often it is looked at meanwhile."""
_PROOFS: dict[Proof, str] = {
    "exact": "candidates verified in one request",
    "regenerates": "candidates verified by generating again",
    "text": "replies compared as text",
}


def load(request: ModelRequest) -> LoadedModel:
    """The model of a server; ``request.model`` as ``address.reference`` makes it. Raises PredtuiError for a server that
    cannot be reached or used, or has no such model."""
    from predtui.llm.remote.client import PATIENCE_S
    from predtui.llm.remote.probe import meet

    link, server = meet(request.model, request.stale)
    link.patience = PATIENCE_S
    try:
        return _loaded(link, server, request.context)
    except BaseException:
        link.close()
        raise


def describe(model: str) -> str:
    """A line on a server and its model, and what it can. Raises PredtuiError as ``load`` does."""
    from predtui.llm.remote.probe import meet

    link, server = meet(model)
    link.close()
    return f"{server.about.model} on {summary(server)}, {link.address.url}"


def offered(model: str, thinking: str, most: int, clock: Clock | None = None) -> Iterator[tuple[str, str]]:
    """What the server offers, as ``offers.offers``. Raises PredtuiError as ``load`` does."""
    from predtui.llm.remote.offers import offers
    from predtui.llm.remote.probe import meet

    link, server = meet(model)
    try:
        yield from offers(server, _loaded(link, server, 0), thinking, most, clock or RealClock())
    finally:
        link.close()


def prepare(request: ModelRequest, clock: Clock | None = None) -> Iterator[tuple[str, float]]:
    """Asks the server, and waits while it loads its model. Each step is a line and how far it has come, -1: unknown."""
    clock, url = clock or RealClock(), parse(request.model).url
    from predtui.llm.remote.failures import ServerError

    yield f"asking {url}", -1.0
    until = clock.now() + LOADING_S
    while True:
        try:
            line = describe(request.model)
        except ServerError as error:
            if error.status != 503 or clock.now() > until:
                raise
            yield f"{url} is loading its model", -1.0
            clock.sleep(LOOK_S)
        else:
            yield line, -1.0
            return


def summary(server: Server) -> str:
    """What it is, and what it can."""
    from predtui.llm.remote.base import abilities_of

    about, proof = server.about, _PROOFS[abilities_of(server).proof]
    told = (
        (about.context, f"context {about.context}"),
        (about.slots, f"{about.slots} at once"),
        (about.caches, "remembers prompts"),
    )
    return ", ".join([about.server, proof, *(words for holds, words in told if holds)])


def _loaded(link: Link, server: Server, context: int) -> LoadedModel:
    from predtui.llm.remote.base import ChatServer
    from predtui.llm.remote.model import RemoteModel
    from predtui.llm.remote.pieces import loaded
    from predtui.llm.remote.tokenizer import RemoteTokenizer

    about, url = server.about, link.address.url
    room = _context(context, about.context)
    if isinstance(server, ChatServer):
        return loaded(server, url, room, link.waiting)
    tokenizer = RemoteTokenizer(server)
    model = RemoteModel(server, link, room, tokenizer.learn)
    name = about.model.rpartition("/")[2]
    return LoadedModel(name, "remote", url, about.parameters, model, tokenizer, server.template())


def _context(asked: int, told: int) -> int:
    """The smaller of both, where there are two."""
    return min(asked or told, told or asked) or CONTEXT
