"""SGLang: tokens in and out, and the likeliest tokens of the end of a prompt, without evaluating its beginning anew.

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

TOP = 20
VOCABULARY = 1 << 19
"""More than any has: it is not told."""
_GREEDY = {"temperature": 0.0, "top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
"""Whatever the model's own settings are."""


def meet(link: Link) -> SGLang | None:
    """The server, if it is one of these, and applies a chat template to tokens that it tells."""
    info = link.find("/get_model_info")
    if not isinstance(info, dict) or "model_path" not in info:
        return None
    if link.find("/tokenize", {"prompt": "a"}) is None:
        return None
    with understanding(link.place):
        model = chosen(link, models(link))
        more = link.find("/get_server_info") or {}
        name = str(model["id"])
        about = About(
            server=printable(f"SGLang {more.get('version', '')}").strip(),
            model=name,
            context=int(model.get("max_model_len") or more.get("context_length") or 0),
            parameters=parameters_in(name, str(info["model_path"])),
            vocabulary=VOCABULARY,
            caches=not more.get("disable_radix_cache", False),
        )
    server = SGLang(link, about)
    return server if server.writes else None


class SGLang:
    """A ``TokenServer``. ``writes``: whether it applies a chat template."""

    top, scores = TOP, True
    begins: tuple[int, ...] = ()
    """The template writes what a prompt begins with."""

    def __init__(self, link: Link, about: About) -> None:
        self.about, self._link = about, link
        self._spelling = Spelling(self._tokenize, self._detokenize)
        self._template = template(self._apply, self._detokenize)
        self.writes = self._template is not None

    @property
    def unread(self) -> int:
        return self._link.unread

    def generate(self, tokens: Sequence[int], limit: int) -> Generator[Told, None, None]:
        body = self._asked(tokens, limit) | {"stream": True}
        arrival, count, text, over = Arrival(self._spelling.text), 0, "", False
        with self._link.stream("/generate", body) as stream, closing(iter(stream)) as events:
            for said in events:
                with understanding(self._link.place):
                    grown = int(said["meta_info"]["completion_tokens"]) - count
                    new = [int(token) for token in said["output_ids"]][-grown:] if grown > 0 else []
                    count += grown
                    before, text = text, str(said["text"])
                    finish = said["meta_info"].get("finish_reason") or {}
                    end, over = self._end(finish), bool(finish)
                    if end is not None and new[-1:] != [end]:
                        new.append(end)
                    fresh = arrival.take(new, text.removeprefix(before), end is not None)
                yield from fresh
        if not over:
            raise cut_off(self._link.place)
        yield from arrival.rest()

    def rows(self, tokens: Sequence[int], last: int) -> list[PartialRow]:
        told = {"return_logprob": True, "logprob_start_len": len(tokens) - last, "top_logprobs_num": TOP}
        said = self._link.ask("/generate", self._asked(tokens, 1) | told)
        with understanding(self._link.place):
            about = said["meta_info"]
            given = list(zip(about["input_top_logprobs"], about["input_token_logprobs"], strict=True))[1:]
            if len(given) != last - 1:
                raise ValueError("another number of rows")
            rows = [PartialRow(_pairs(likeliest), _pairs([own])) for likeliest, own in given]
            return [*rows, PartialRow(_pairs(about["output_top_logprobs"][0]))]

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
        return {"input_ids": list(tokens), "sampling_params": {**_GREEDY, "max_new_tokens": limit}}

    def _end(self, finish: dict[str, Any]) -> int | None:
        """The token that ended the reply, where the model has ended it."""
        if finish.get("type") == "abort":
            raise ServerError(f"{self._link.place} has given the request up.", LOCAL, 503, True)
        matched = finish.get("matched")
        return matched if finish.get("type") == "stop" and isinstance(matched, int) else None

    def _tokenize(self, text: str) -> list[int]:
        said = self._link.ask("/tokenize", {"model": self.about.model, "prompt": text, "add_special_tokens": False})
        with understanding(self._link.place):
            return [int(token) for token in said["tokens"]]

    def _detokenize(self, tokens: Sequence[int]) -> str:
        body = {"model": self.about.model, "tokens": list(tokens), "skip_special_tokens": False}
        said = self._link.ask("/detokenize", body)
        with understanding(self._link.place):
            return str(said["text"])

    def _apply(self, messages: list[dict[str, str]], variables: Variables) -> list[int] | None:
        """The tokens of a chat's prompt are told beside a reply, which is a token long here."""
        body = {"model": self.about.model, "messages": messages, "max_tokens": 1, "return_token_ids": True}
        said = self._link.find("/v1/chat/completions", body | beside(variables))
        with understanding(self._link.place):
            told = (said or {}).get("prompt_token_ids") or ((said or {}).get("choices") or [{}])[0].get(
                "prompt_token_ids"
            )
            return None if told is None else [int(token) for token in told]


def _pairs(told: Sequence[Sequence[Any]]) -> list[tuple[int, float]]:
    """Log-probability, token and text, as the server tells them."""
    return [(int(one[1]), float(one[0])) for one in told]
