"""vLLM: tokens in and out, and the likeliest tokens of every position of a prompt, which it then evaluates anew.

Must not know of how replies are verified.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any

from predtui.foreign import printable
from predtui.llm.base import ChatTemplate
from predtui.llm.remote.base import About, Told
from predtui.llm.remote.client import Link
from predtui.llm.remote.dialects.models import chosen, models, parameters_in
from predtui.llm.remote.dialects.spelling import Arrival, Spelling, Variables, beside, template
from predtui.llm.remote.failures import LOCAL, ServerError, cut_off, understanding
from predtui.llm.rows import PartialRow

TOP = 3
"""Told of each position of a prompt, however long that is: few keep the answer small."""
VOCABULARY = 1 << 19
"""More than any has: it is not told."""
_GREEDY = {"temperature": 0, "top_p": 1, "top_k": -1, "min_p": 0, "repetition_penalty": 1}
"""Whatever the model's own settings are."""


def meet(link: Link) -> Vllm | None:
    """The server, if it is one of these, and applies a chat template."""
    version = link.find("/version")
    told = models(link) if isinstance(version, dict) and "version" in version else []
    if not any(model.get("owned_by") == "vllm" for model in told):
        return None
    with understanding(link.place):
        model = chosen(link, told)
        name = str(model["id"])
        about = About(
            server=printable(f"vLLM {version['version']}"),
            model=name,
            context=int(model.get("max_model_len") or 0),
            parameters=parameters_in(name, str(model.get("root") or "")),
            vocabulary=VOCABULARY,
            caches=True,
        )
    server = Vllm(link, about)
    return server if server.writes else None


class Vllm:
    """A ``TokenServer``. ``writes``: whether it applies a chat template."""

    top, scores = TOP, True

    def __init__(self, link: Link, about: About) -> None:
        self.about, self._link = about, link
        self._spelling = Spelling(self._tokenize, self._detokenize)
        self._template = template(self._apply, self._detokenize)
        self.writes = self._template is not None
        self.begins: tuple[int, ...] = ()
        """The template writes what a prompt begins with."""

    @property
    def unread(self) -> int:
        return self._link.unread

    def generate(self, tokens: Sequence[int], limit: int) -> Generator[Told, None, None]:
        body = {**self._asked(tokens, limit), "stream": True, "return_token_ids": True}
        arrival, over = Arrival(self._spelling.text), False
        with self._link.stream("/v1/completions", body) as stream, closing(iter(stream)) as events:
            for said in events:
                with understanding(self._link.place):
                    choice = said["choices"][0] if said.get("choices") else {}
                    new, finish = _ids(choice), choice.get("finish_reason")
                    ended, over = finish == "stop", over or finish not in (None, "abort")
                    if ended and not new:
                        raise ServerError(f"{self._link.place} does not tell the token that ends a reply.", LOCAL)
                    fresh = arrival.take(new, str(choice.get("text") or ""), ended)
                yield from fresh
        if not over:
            raise cut_off(self._link.place)
        yield from arrival.rest()

    def rows(self, tokens: Sequence[int], last: int) -> list[PartialRow]:
        body = self._asked(tokens, 1) | ({"prompt_logprobs": TOP} if last > 1 else {})
        said = self._link.ask("/v1/completions", body)
        with understanding(self._link.place):
            choice = said["choices"][0]
            given = [_row(position) for position in choice["prompt_logprobs"][1 - last :]] if last > 1 else []
            if len(given) != last - 1:
                raise ValueError("too few rows")
            (after,) = choice["logprobs"]["top_logprobs"][:1]
            likeliest = sorted(((_number(name), float(told)) for name, told in after.items()), key=_likelier)
            return [*given, PartialRow(likeliest[:TOP])]

    def encode(self, text: str, special: bool) -> list[int]:
        return self._spelling.encode(text, special)

    def text(self, token: int) -> bytes:
        return self._spelling.text(token)

    def template(self) -> ChatTemplate:
        assert self._template is not None
        return self._template

    def close(self) -> None:
        self._link.close()

    def _asked(self, tokens: Sequence[int], limit: int) -> dict[str, Any]:
        named = {"logprobs": TOP, "return_tokens_as_token_ids": True}
        return {**_GREEDY, **named, "model": self.about.model, "prompt": list(tokens), "max_tokens": limit}

    def _tokenize(self, text: str) -> list[int]:
        said = self._link.ask("/tokenize", {"model": self.about.model, "prompt": text, "add_special_tokens": False})
        with understanding(self._link.place):
            return [int(token) for token in said["tokens"]]

    def _detokenize(self, tokens: Sequence[int]) -> str:
        said = self._link.ask("/detokenize", {"model": self.about.model, "tokens": list(tokens)})
        with understanding(self._link.place):
            return str(said["prompt"])

    def _apply(self, messages: list[dict[str, str]], variables: Variables) -> list[int] | None:
        body = {"model": self.about.model, "messages": messages, "add_generation_prompt": True}
        said = self._link.find("/tokenize", body | beside(variables))
        with understanding(self._link.place):
            return None if said is None else [int(token) for token in said["tokens"]]


def _ids(choice: dict[str, Any]) -> list[int]:
    """Of newer servers by name, of older ones out of the log-probabilities."""
    if choice.get("token_ids") is not None:
        return [int(token) for token in choice["token_ids"]]
    return [_number(name) for name in (choice.get("logprobs") or {}).get("tokens", [])]


def _number(name: str) -> int:
    return int(name.removeprefix("token_id:"))


def _likelier(told: tuple[int, float]) -> tuple[float, int]:
    return (-told[1], told[0])


def _row(position: dict[str, Any]) -> PartialRow:
    """The likeliest, and the prompt's own token, which may be none of them."""
    told = sorted(position.items(), key=lambda one: int(one[1]["rank"]))
    pairs = [(int(token), float(one["logprob"])) for token, one in told]
    return PartialRow(pairs[:TOP], pairs[TOP:])
