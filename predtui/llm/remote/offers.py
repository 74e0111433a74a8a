"""What a server offers to this engine, in words for a person: found out by a few small requests.

Must not know of HTTP, or of any particular server.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing

from predtui.clock import Clock
from predtui.llm.base import LoadedModel
from predtui.llm.remote.base import ChatServer, Told
from predtui.llm.remote.probe import Server
from predtui.llm.thinking import with_thinking
from predtui.state.events import Message

_ASK = [Message("user", "Count from one to a hundred, in words.")]
_LONG = 128
"""Tokens of the reply that is given up."""
_RESTS_MS = 200.0
"""What another may have to wait while a server comes to rest."""
PROOFS = {
    "exact": "exact: it tells how likely the tokens of a guess are, so that one request verifies it",
    "regenerates": "regenerates: it answers anew, and the guess holds as far as the tokens are the same",
    "text": "regenerates: it answers anew, and the guess holds as far as the words are the same",
}


def offers(server: Server, loaded: LoadedModel, mode: str, most: int, clock: Clock) -> Iterator[tuple[str, str]]:
    """Subjects with a line on each. ``loaded``: its model; ``mode`` and ``most`` as in ``with_thinking``. Raises
    PredtuiError where the server does."""
    yield "verification", PROOFS[loaded.abilities.proof]
    if isinstance(server, ChatServer):
        yield "tokens", "it takes messages and tells text, no tokens"
        yield "thinking", server.think(mode)
    else:
        told = "of every position" if server.scores else "of what it generates"
        yield "tokens", f"it takes and tells token ids, and the {server.top} likeliest {told}"
        yield "thinking", _thinking(with_thinking(loaded, mode, most), mode)
    yield "cancellation", _given_up(server, loaded, clock)


def _thinking(loaded: LoadedModel, mode: str) -> str:
    if loaded.thinking is None:
        return "the model has no marks for thoughts"
    if mode == "off":
        return "the model can think; its prompts are written so that it answers at once"
    return f"the model thinks in at most {loaded.thinking.budget} tokens before it answers"


def _given_up(server: Server, loaded: LoadedModel, clock: Clock) -> str:
    """How long a request that was given up keeps another waiting."""
    _first(server, loaded, clock)
    rest = _first(server, loaded, clock)
    with closing(_reply(server, loaded, _LONG)) as reply:
        next(reply, None)
    waited = max(0.0, _first(server, loaded, clock) - rest)
    found = "it goes on with what is given up" if waited > _RESTS_MS else "what is given up is in nobody's way"
    return f"{found}: the next request waits {waited:.0f} ms longer than the usual {rest:.0f} ms"


def _first(server: Server, loaded: LoadedModel, clock: Clock) -> float:
    """Milliseconds until a reply begins."""
    began = clock.now()
    with closing(_reply(server, loaded, 1)) as reply:
        next(reply, None)
    return (clock.now() - began) * 1000


def _reply(server: Server, loaded: LoadedModel, limit: int) -> Generator[Told | str, None, object]:
    if isinstance(server, ChatServer):
        return server.chat(_ASK, limit)
    return server.generate(loaded.prompt_tokens(_ASK), limit)
