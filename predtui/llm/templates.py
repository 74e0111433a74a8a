"""Chat templates: messages to the text that a model was trained on, by the Jinja template its file carries.

Rendered in a sandbox with the names that Hugging Face gives its templates, so that any published template works, and
within bounds of time and size: a template comes with a model, from anybody.
Must not know of tokens or engines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser

from predtui.errors import PredtuiError
from predtui.llm.sandbox import ExceededError, MeteredEnvironment
from predtui.state.events import Message

_PROBE = "predtui-probe"
_NO_SYSTEM = "{# system messages are ignored on purpose #}"
"""A template that holds this comment belongs to a model that was trained without system messages: it gets none."""


class _Generation(Extension):
    """``{% generation %}…{% endgeneration %}`` marks what an assistant said, for training; here it is its body."""

    tags = {"generation"}  # noqa: RUF012 - declared so by the base class

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _refuse(message: str) -> NoReturn:
    raise TemplateError(message)


def strftime_now(form: str) -> str:
    return datetime.now().strftime(form)


def _environment() -> MeteredEnvironment:
    environment = MeteredEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _Generation])
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = strftime_now
    environment.filters["tojson"] = lambda value, indent=None: json.dumps(value, ensure_ascii=False, indent=indent)
    environment.seal()
    return environment


class JinjaTemplate:
    """A ``ChatTemplate`` out of Jinja source. A template that refuses or drops system messages gets them in the first
    user message instead; one that insists on alternating roles gets neighbours of one role joined."""

    def __init__(self, source: str, bos: str = "", eos: str = "") -> None:
        """Raises PredtuiError for a source that is not a template, or one that takes too long or makes too much."""
        self.source = source
        self._variables: dict[str, Any] = {"bos_token": bos, "eos_token": eos}
        self._environment = _environment()
        try:
            self._template = self._environment.from_string(source)
        except Exception as error:  # what nests too deeply fails anywhere between Jinja's parser and Python's compiler
            reason = (
                str(error) if isinstance(error, TemplateError) else f"it cannot be compiled ({type(error).__name__})"
            )
            raise PredtuiError(
                f"The model's chat template is broken: {reason}.", "Choose another model with --model."
            ) from error
        self._takes_system = _NO_SYSTEM in source or self._probe()
        self.notes = tuple(self._found())
        """What the template does not take, and gets in another form: a clause each, for a person."""

    def told(self, variables: Mapping[str, Any]) -> JinjaTemplate:
        """The same template, which is given ``variables`` beside the messages."""
        other = copy(self)
        other._variables = {**self._variables, **variables}
        return other

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt, up to where the assistant's next reply begins. Raises PredtuiError if the template refuses, takes
        too long, or makes too much."""
        if not self._takes_system:
            messages = merge_system(messages)
        try:
            return self._render(messages)
        except TemplateError:
            pass
        try:
            return self._render(alternate(messages))
        except TemplateError as error:
            raise PredtuiError(
                f"The model's chat template refuses this conversation: {error}.", "Start a new conversation."
            ) from error

    def _render(self, messages: Sequence[Message]) -> str:
        plain: list[dict[str, Any]] = [{"role": m.role, "content": m.content} for m in messages]
        try:
            return self._environment.render(
                self._template, messages=plain, add_generation_prompt=True, **self._variables
            )
        except ExceededError as error:
            raise PredtuiError(
                f"The model's chat template is not to be trusted: {error}.", "Choose another model with --model."
            ) from error
        except TemplateError:
            raise
        except Exception as error:
            raise TemplateError(str(error)) from error

    def _found(self) -> Iterator[str]:
        if not self._takes_system:
            yield "takes no system prompt, which stands in your first message instead"
        ask = Message("user", "?")
        if self._takes([ask]) and not self._takes([ask, ask]):
            yield "wants user and assistant in turn, so that what one says twice in a row is joined"

    def _takes(self, messages: Sequence[Message]) -> bool:
        try:
            self._render(messages)
        except TemplateError:
            return False
        return True

    def _probe(self) -> bool:
        try:
            return _PROBE in self._render([Message("system", _PROBE), Message("user", "?")])
        except TemplateError:
            return False


class PlainTemplate:
    """For models without a template: a line a message, named by its role, ending in an open ``Assistant:`` line. Where
    the next line is either's, the reply is over."""

    stops = ("\nUser:", "\nAssistant:")

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt, up to where the assistant's next reply begins."""
        lines = [m.content if m.role == "system" else f"{m.role.capitalize()}: {m.content}" for m in messages]
        return "\n".join([*lines, "Assistant:"])


def merge_system(messages: Sequence[Message]) -> list[Message]:
    """The same conversation with what the system says at the head of the first user message."""
    system = "\n\n".join(m.content for m in messages if m.role == "system")
    rest = [m for m in messages if m.role != "system"]
    first = next((i for i, m in enumerate(rest) if m.role == "user"), None)
    if not system:
        return rest
    if first is None:
        return [Message("user", system), *rest]
    rest[first] = Message("user", f"{system}\n\n{rest[first].content}")
    return rest


def alternate(messages: Sequence[Message]) -> list[Message]:
    """The same conversation with neighbours of one role joined, and nothing said before the first user message."""
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1].role == message.role:
            joined[-1] = Message(message.role, f"{joined[-1].content}\n{message.content}")
        elif message.role != "assistant" or any(m.role == "user" for m in joined):
            joined.append(message)
    return joined
