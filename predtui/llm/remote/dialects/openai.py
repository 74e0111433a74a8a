"""Any server with OpenAI's chat completions, of which nothing more is known: messages in, text out.

So are LM Studio, Ollama, llama-cpp-python's server and transformers serve, whose own words tell what they are. Must not
know of tokens.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any

from predtui.foreign import printable
from predtui.llm.remote.base import About, Finish
from predtui.llm.remote.client import Link
from predtui.llm.remote.dialects.models import chosen, models
from predtui.llm.remote.failures import LOCAL, ServerError, cut_off, understanding
from predtui.llm.remote.reasoning import Fields, Marking, Switch, switch, thinks, thought_in
from predtui.state.events import Message

_CHAT = "/v1/chat/completions"
_REFUSED = frozenset((400, 404, 405, 422, 500, 501))
"""Statuses of what a request must not have."""
_LENGTHS = ("max_tokens", "max_completion_tokens")
"""How servers call the most tokens of a reply: the usual name, and that of OpenAI's own for models that think."""
_BEGINNING = 8
"""Tokens that show whether a reply begins with a thought."""
FINISHES: dict[str | None, Finish | None] = {None: None, "": None, "abort": None, "length": "length"}
"""Of what a server may say at an end, what is none of the model's own: without a word, or given up, a reply is cut."""


def meet(link: Link) -> OpenAIServer:
    """The server. Raises ServerError for one that is none."""
    told = models(link)
    if not told:
        raise ServerError(f"{link.place} is no server of language models: it has no list of them.", LOCAL)
    model = chosen(link, told)
    kind, context = _kind(link, told), 0
    with suppress(TypeError, ValueError):
        context = int(model.get("max_model_len") or model.get("context_length") or 0)
    return OpenAIServer(link, About(server=kind, model=str(model["id"]), context=context))


class OpenAIServer:
    """A ``ChatServer``."""

    continues = False

    def __init__(self, link: Link, about: About) -> None:
        self.about, self._link, self._switch, self._length = about, link, Switch(), _LENGTHS[0]

    @property
    def unread(self) -> int:
        return self._link.unread

    def chat(self, messages: Sequence[Message], limit: int) -> Generator[str, None, Finish]:
        """A stream that breaks off is asked for again, and goes on where it was, if it says the same so far."""
        sent, since, attempt = "", self._link.clock.now(), 0
        while True:
            again = ""
            pieces = self._pieces(messages, limit)
            try:
                while True:
                    again += next(pieces)
                    if not again.startswith(sent[: len(again)]):
                        raise ServerError(f"{self._link.place} broke off, and now says something else.", LOCAL)
                    if new := again[len(sent) :]:
                        sent, since, attempt = again, self._link.clock.now(), 0
                        yield new
            except StopIteration as end:
                finish: Finish = end.value
                return finish
            except ServerError as error:
                attempt += 1
                self._link.wait(error, since, attempt)
            finally:
                pieces.close()

    def think(self, mode: str) -> str:
        """As ``ChatServer.think``; each way is tried in a request of a few tokens."""
        try:
            self._switch = switch(self._tried, mode)
        except ServerError as error:
            if error.status not in _REFUSED or _LENGTHS[1] not in error.message or self._length == _LENGTHS[1]:
                raise
            self._length = _LENGTHS[1]
            self._switch = switch(self._tried, mode)
        return str(self._switch)

    def close(self) -> None:
        self._link.close()

    def _pieces(self, messages: Sequence[Message], limit: int) -> Generator[str, None, Finish]:
        body = {**self._asked(messages, limit), **self._switch.fields, "stream": True}
        finish: Finish | None = None
        marking = Marking()
        with self._link.stream(_CHAT, body) as events:
            for said in events:
                with understanding(self._link.place):
                    choice = said["choices"][0] if said.get("choices") else {}
                    delta = choice.get("delta") or {}
                    text = marking.take(thought_in(delta), str(delta.get("content") or ""))
                    finish = FINISHES.get(choice.get("finish_reason"), "stop") or finish
                if text:
                    yield text
        if finish is None:
            raise cut_off(self._link.place)
        return finish

    def _tried(self, fields: Fields) -> bool | None:
        """Whether it thinks when told so; None where it refuses that."""
        self._switch, text = Switch(fields), ""
        reply = self.chat([Message("user", "Hi")], _BEGINNING)
        try:
            while True:
                text += next(reply)
        except StopIteration as end:
            return thinks(text, end.value)
        except ServerError as error:
            if fields and error.status in _REFUSED:
                return None
            raise

    def _asked(self, messages: Sequence[Message], limit: int) -> dict[str, Any]:
        plain = [{"role": message.role, "content": message.content} for message in messages]
        return {"model": self.about.model, "messages": plain, self._length: limit, "temperature": 0}


def _kind(link: Link, told: list[dict[str, Any]]) -> str:
    """What it calls itself."""
    version = link.find("/api/version")
    if isinstance(version, dict) and "version" in version:
        return printable(f"Ollama {version['version']}")
    about = link.find("/openapi.json")
    with suppress(LookupError, TypeError):
        title, version = str(about["info"]["title"]), about["info"]["version"]
        if "llama.cpp Python" in title:
            return printable(f"llama-cpp-python {version}")
    owner = str(told[0].get("owned_by", ""))
    return printable(f"an OpenAI-compatible server ({owner})" if owner else "an OpenAI-compatible server")
