"""Asks a server what it is and can. Must not know of any particular one: the registry lists those."""

from __future__ import annotations

from predtui.llm.base import Stale, never
from predtui.llm.remote.address import parse
from predtui.llm.remote.base import ChatServer, TokenServer
from predtui.llm.remote.client import Link
from predtui.llm.remote.keys import key_for
from predtui.registry import SERVERS

Server = TokenServer | ChatServer


def meet(name: str, stale: Stale = never) -> tuple[Link, Server]:
    """The server of a ``reference``, whose model it is asked for; closing it closes the link. Raises PredtuiError for
    one that cannot be reached or used."""
    address = parse(name)
    link = Link(address, key_for(address.url), stale)
    try:
        for kind in SERVERS:
            server: Server | None = SERVERS.factory(kind)(link)
            if server is not None:
                return link, server
    except BaseException:
        link.close()
        raise
    raise AssertionError("the last kind takes every server, or says why not")
