"""llama.cpp's own server, llama-server: tokens in and out, a prompt cache, rows of generated tokens alone.

Must not know of how replies are verified.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any

from predtui.errors import PredtuiError
from predtui.llm.base import ChatTemplate
from predtui.llm.remote.base import About, Told
from predtui.llm.remote.client import Link
from predtui.llm.remote.dialects.models import chosen, models
from predtui.llm.remote.dialects.spelling import Variables, beside, plain
from predtui.llm.remote.failures import cut_off, understanding
from predtui.llm.rows import PartialRow
from predtui.llm.templates import JinjaTemplate, PlainTemplate
from predtui.state.events import Message

TOP = 20
_GREEDY = {"temperature": 0.0, "samplers": ["temperature"], "cache_prompt": True, "return_tokens": True}
"""Whatever the server's own settings are."""


def meet(link: Link) -> LlamaServer | None:
    """The server, if it is one of these."""
    props = link.find("/props")
    if not isinstance(props, dict) or "default_generation_settings" not in props:
        return None
    with understanding(link.place):
        model = chosen(link, models(link))
        meta = model.get("meta") or {}
        about = About(
            server=f"llama-server {props.get('build_info', '')}".strip(),
            model=str(model["id"]),
            context=int(props["default_generation_settings"]["n_ctx"]),
            parameters=int(meta.get("n_params", 0)),
            vocabulary=int(meta.get("n_vocab", 0)),
            slots=int(props.get("total_slots", 0)),
            caches=True,
        )
        return LlamaServer(link, about, props)


class LlamaServer:
    """A ``TokenServer``."""

    top, scores = TOP, False

    def __init__(self, link: Link, about: About, props: dict[str, Any]) -> None:
        self.about = about
        self._link, self._props = link, props
        self._pieces: dict[int, bytes] = {}
        self.begins = self._begins()
        self._end = next(iter(self.encode(str(props.get("eos_token") or ""), special=True)), -1)
        """Of generated ends that are not told as tokens."""

    @property
    def unread(self) -> int:
        return self._link.unread

    def generate(self, tokens: Sequence[int], limit: int) -> Generator[Told, None, None]:
        body = {**_GREEDY, "prompt": list(tokens), "n_predict": limit, "stream": True}
        context, count, over = list(tokens), 0, False
        silent: Told | None = None
        """A token without text, told once it is known whether the reply ends with it."""
        with self._link.stream("/completion", body) as stream, closing(iter(stream)) as events:
            for said in events:
                with understanding(self._link.place):
                    over = bool(said["stop"])
                    ended = over and said.get("stop_type") == "eos"
                    fresh = self._fresh(context, said, said["tokens_predicted"] - count, ended and silent is None)
                    count = said["tokens_predicted"]
                if silent is not None:
                    yield Told(silent.token, silent.piece, ended)
                    silent = None
                for told in fresh:
                    context.append(told.token)
                    if told.piece == b"" and not told.end:
                        silent = told
                    else:
                        yield told
        if not over:
            raise cut_off(self._link.place)
        if silent is not None:
            yield silent

    def rows(self, tokens: Sequence[int], last: int) -> list[PartialRow]:
        said = self._link.ask("/completion", {**_GREEDY, "prompt": list(tokens), "n_predict": 1, "n_probs": TOP})
        with understanding(self._link.place):
            likeliest = said["completion_probabilities"][0]["top_logprobs"]
            return [PartialRow([(int(one["id"]), float(one["logprob"])) for one in likeliest][:TOP])]

    def encode(self, text: str, special: bool) -> list[int]:
        if not text:
            return []
        pieces = self._tokenized(text, special)
        if not special:
            self._pieces.update(pieces)
        return [token for token, _ in pieces]

    def text(self, token: int) -> bytes:
        if token not in self._pieces:
            said = self._link.ask("/detokenize", {"tokens": [token]})
            with understanding(self._link.place):
                spelt = str(said["content"])
            mark = [one for one, _ in self._tokenized(spelt, True)] == [token]
            plain = [one for one, _ in self._tokenized(spelt, False)] == [token]
            self._pieces[token] = b"" if mark and not plain else spelt.encode()
        return self._pieces[token]

    def template(self) -> ChatTemplate:
        source = self._props.get("chat_template")
        if not isinstance(source, str) or not source:
            return PlainTemplate()
        bos, eos = (str(self._props.get(name) or "") for name in ("bos_token", "eos_token"))
        try:
            return JinjaTemplate(source, bos, eos)
        except PredtuiError:
            return _Rendered(self._link, source)

    def close(self) -> None:
        self._link.close()

    def _begins(self) -> tuple[int, ...]:
        plain = [token for token, _ in self._tokenized("a", False)]
        said = self._link.ask("/tokenize", {"content": "a", "add_special": True})
        with understanding(self._link.place):
            whole = [int(token) for token in said["tokens"]]
        start = next((at for at in range(len(whole)) if whole[at : at + len(plain)] == plain), 0)
        return tuple(whole[:start])

    def _tokenized(self, text: str, special: bool) -> list[tuple[int, bytes]]:
        """Tokens with their bytes."""
        body = {"content": text, "add_special": False, "parse_special": special, "with_pieces": True}
        said = self._link.ask("/tokenize", body)
        with understanding(self._link.place):
            return [(int(one["id"]), _bytes(one["piece"])) for one in said["tokens"]]

    def _fresh(self, context: Sequence[int], said: dict[str, Any], count: int, ended: bool) -> list[Told]:
        """The ``count`` tokens that an event brings. It names the last of them alone where the others had to wait for
        the end of a character, and none where the whole reply is over."""
        named, text = [int(token) for token in said["tokens"]][-1:], str(said["content"])
        if count <= 0:
            return []
        if named and count == 1:
            return [Told(named[0], text.encode())]
        if ended and count == 1:
            return [Told(self._end, b"", end=True)]
        spelt = self._tokenized(text, False) if text else []
        if len(spelt) == count and [token for token, _ in spelt][-1:] == named:
            return [Told(token, piece) for token, piece in spelt]
        body = {**_GREEDY, "prompt": list(context), "n_predict": count}
        return [Told(int(token)) for token in self._link.ask("/completion", body)["tokens"]]


class _Rendered:
    """A ``TellableTemplate`` that the server renders."""

    def __init__(self, link: Link, source: str, variables: Variables | None = None) -> None:
        self.source, self._link, self._variables = source, link, dict(variables or {})

    def told(self, variables: Variables) -> _Rendered:
        """The same template, which is given ``variables`` beside the messages."""
        return _Rendered(self._link, self.source, {**self._variables, **variables})

    def render(self, messages: Sequence[Message]) -> str:
        said = self._link.ask("/apply-template", {"messages": plain(messages)} | beside(self._variables))
        with understanding(self._link.place):
            return str(said["prompt"])


def _bytes(piece: Any) -> bytes:
    """A piece is told as text, or as numbers where it is not valid UTF-8."""
    return piece.encode() if isinstance(piece, str) else bytes(piece)
