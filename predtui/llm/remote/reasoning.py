"""How a server that takes messages is told to think as little, or as much, as is wanted, and what of its replies is
thought.

Servers differ in what they take for that: variables of the template (vLLM, SGLang, llama-server, transformers serve) or
an effort (OpenAI, Ollama, gpt-oss wherever it runs); and some refuse what others pass over. So each is asked, in a
request of a few tokens, until one does what is wanted. Must not know of any particular server, or of HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from predtui.llm.remote.base import Finish
from predtui.llm.thoughts import THINK

Fields = Mapping[str, Any]
"""What a request has beside the conversation."""

_EFFORT = "reasoning_effort"
_OPEN, _CLOSE = THINK.opens[0], THINK.close


def _template(on: bool) -> dict[str, Any]:
    """The two names that published templates have."""
    return {"chat_template_kwargs": {"enable_thinking": on, "thinking": on}}


WAYS: Mapping[str, tuple[Fields, ...]] = {
    "off": ({}, _template(False), {_EFFORT: "none"}, {_EFFORT: "minimal"}, {_EFFORT: "low"}),
    "brief": ({**_template(True), _EFFORT: "low"}, {_EFFORT: "low"}, _template(True), {}),
    "on": ({}, _template(True), {_EFFORT: "medium"}),
}
"""What may be told a server, in the order in which it is tried, by ``llm.thinking``."""


@dataclass(frozen=True, slots=True)
class Switch:
    """``fields``: what a server is told; ``thinks``: whether it thinks then; ``able``: whether it ever was seen to."""

    fields: Fields = field(default_factory=dict)
    thinks: bool = False
    able: bool = False

    def __str__(self) -> str:
        if not self.able:
            return "the model was not seen to think"
        told = ", ".join(self.fields)
        if self.thinks:
            return f"the model thinks before it answers{f', asked to by {told}' if told else ''}"
        return f"the model can think; {told or 'llm.thinking'} keeps it from that"


def switch(tried: Callable[[Fields], bool | None], mode: str) -> Switch:
    """What to tell a server for ``mode`` (off, brief, on). ``tried``: whether it thinks when told so, None where it
    refuses that. Where it does not what is wanted, the least effort that it takes is as near as can be."""
    wanted, found = mode != "off", list[tuple[Fields, bool]]()
    for fields in WAYS[mode]:
        seen = tried(fields)
        if seen is not None:
            found.append((fields, seen))
        if seen == wanted:
            break
    able = any(seen for _, seen in found)
    if found and found[-1][1] == wanted:
        return Switch(*found[-1], able)
    less = (fields for fields, _ in found if not wanted and _EFFORT in fields)
    return Switch(next(less, {}), not wanted and able, able)


def thinks(text: str, finish: Finish) -> bool:
    """Whether the beginning of a reply is that of a thought, which some servers hide: then it is empty."""
    return text.lstrip().startswith(_OPEN) or (finish == "length" and not text.strip())


def thought_in(message: Mapping[str, Any]) -> str:
    """What a message, or a part of one, tells of a thought that the server keeps apart from the answer."""
    names: Iterable[str] = ("reasoning_content", "reasoning")
    return next((said for name in names if isinstance(said := message.get(name), str) and said), "")


class Marking:
    """A reply in parts, of which a server tells the thoughts apart: they are marked as in models that do not."""

    def __init__(self) -> None:
        self._within = False

    def take(self, thought: str, answer: str) -> str:
        """The text of a part. A thought cannot spell the mark that ends it."""
        text = ""
        if thought:
            text = ("" if self._within else _OPEN) + thought.replace("<", "‹")
            self._within = True
        if answer and self._within:
            text += _CLOSE
            self._within = False
        return text + answer
