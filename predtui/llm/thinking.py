"""Finds out how a model thinks before it answers, and has its template think as little, or as much, as is wanted.

What is known of a model is what its template says and renders, and what its vocabulary holds: no names of models. Must
not know of decoding, or of what is done with a thought.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Protocol, runtime_checkable

from predtui.errors import PredtuiError
from predtui.llm.base import ChatTemplate, LanguageModel, LoadedModel, Tokenizer
from predtui.llm.thoughts import FORMS, THINK, Form, Thinking
from predtui.state.events import Message

BRIEF = 96
"""Tokens of a brief thought."""
_PROBE = "predtui-probe"
_SWITCHES: tuple[tuple[str, Any, Any], ...] = (
    ("enable_thinking", False, True),
    ("thinking", False, True),
    ("reasoning", False, True),
    ("thinking_budget", 0, -1),
)
"""Variables by which templates switch thinking: name, off, on."""
_EFFORT, _LOW, _NONE = "reasoning_effort", "low", "none"


@runtime_checkable
class TellableTemplate(ChatTemplate, Protocol):
    """A template that takes more than messages."""

    @property
    def source(self) -> str:
        """Empty where it is not told: what the template knows is found out by rendering it."""
        ...

    def told(self, variables: Mapping[str, Any]) -> ChatTemplate:
        """The same template, which is given ``variables`` beside the messages."""
        ...


@runtime_checkable
class TellableModel(LanguageModel, Protocol):
    """A model behind a server that writes prompts down itself, and is told how much to think."""

    def think(self, mode: str) -> None:
        """``mode``: off, brief, on. Raises PredtuiError."""
        ...


@dataclass(frozen=True, slots=True)
class ClosedTemplate:
    """A template with ``closing`` at the end of its prompts."""

    template: ChatTemplate
    closing: str

    def render(self, messages: Sequence[Message]) -> str:
        return self.template.render(messages) + self.closing


class SpelledTokenizer:
    """A ``Tokenizer`` that spells the marks of thoughts where another one shows nothing of them."""

    def __init__(self, tokenizer: Tokenizer, thinking: Thinking) -> None:
        self.encode, self.is_end, self._decode = tokenizer.encode, tokenizer.is_end, tokenizer.decode
        self._marks = dict(thinking.tokens)

    def decode(self, tokens: Sequence[int]) -> str:
        if self._marks.keys().isdisjoint(tokens):
            return self._decode(tokens)
        return "".join(self._spelled(tokens))

    def _spelled(self, tokens: Sequence[int]) -> Iterator[str]:
        for mark, group in groupby(tokens, self._marks.get):
            run = [*group]
            yield self._decode(run) if mark is None else mark * len(run)


def fragment(tokenizer: Tokenizer, text: str) -> list[int]:
    """The tokens of ``text`` within a prompt, special ones included: no BOS is put before it."""
    return tokenizer.encode(text, special=True)[len(tokenizer.encode("", special=True)) :]


def with_thinking(loaded: LoadedModel, mode: str, most: int) -> LoadedModel:
    """``loaded``, which is to think as ``mode`` says (off, brief, on): its template, and what is known of its thoughts.
    ``most``: the most tokens of one in mode "on". A model that has no marks for thoughts is as it was.
    Raises PredtuiError where a server does."""
    budget = {"off": 0, "brief": min(BRIEF, most), "on": most}[mode]
    if isinstance(loaded.model, TellableModel):
        loaded.model.think(mode)
    if not loaded.abilities.tokenises:  # what it spells is all that is known of it
        return replace(loaded, thinking=Thinking(THINK, within=False, budget=budget))
    form, named = _form(loaded)
    if form is None:
        return loaded
    told = named or _unseen(loaded.template)
    template, switched = _told(loaded.template, mode) if told else (loaded.template, False)
    prompt = _rendered(template).rpartition(_PROBE)[2]
    closing = _closing(form, prompt, may_think=named and not switched)
    thinking = Thinking(form, form.within(prompt), budget, closing, tuple(_tokens(loaded.tokenizer, form)))
    if mode == "off":
        template = ClosedTemplate(template, closing) if closing else template
        thinking = replace(thinking, within=False, closing="")
    return replace(loaded, template=template, thinking=thinking)


def _form(loaded: LoadedModel) -> tuple[Form | None, bool]:
    """The marks that a model's template names, or else its vocabulary holds, and whether it is the template."""
    source = loaded.template.source if isinstance(loaded.template, TellableTemplate) else ""
    named = next((form for form in FORMS if form.close in source or form.opens[0] in source), None)
    held = (form for form in FORMS if _held(loaded.tokenizer, form))
    return named or next(held, None), named is not None


def _held(tokenizer: Tokenizer, form: Form) -> bool:
    """Whether a vocabulary holds each mark that a thought needs."""
    needed = [atom for atom in form.atoms if atom in form.opens[0] or atom in form.close]
    found = {tuple(fragment(tokenizer, atom)) for atom in needed}
    return bool(needed) and len(found) == len(needed) and all(len(tokens) == 1 for tokens in found)


def _tokens(tokenizer: Tokenizer, form: Form) -> Iterator[tuple[int, str]]:
    """The tokens that are marks, with their text."""
    for atom in form.atoms:
        tokens = fragment(tokenizer, atom)
        if len(tokens) == 1 and not tokenizer.is_end(tokens[0]):
            yield tokens[0], atom


def _closing(form: Form, prompt: str, may_think: bool) -> str:
    """What ``prompt`` lacks to be answered at once. ``may_think``: whether the reply may begin with a thought."""
    if form.within(prompt):
        return form.empty if form.channels else form.ending
    return form.empty if may_think and form.close not in prompt else ""


def _told(template: ChatTemplate, mode: str) -> tuple[ChatTemplate, bool]:
    """The template told what ``mode`` asks for, and whether it sees to it itself that there is no thought."""
    assert isinstance(template, TellableTemplate)
    switch = _switch(template, mode == "off")
    variables = {**switch, **_effort(template, mode, switch)}
    return template.told(variables), mode == "off" and bool(switch)


def _switch(template: TellableTemplate, off: bool) -> dict[str, Any]:
    """What the template is to be told for its thinking to be off, or on; nothing where it has no switch."""
    for name, without, with_it in _SWITCHES:
        if _knows(template, name):
            ways = [_rendered(template.told({name: value})) for value in (without, with_it)]
            if all(ways) and len({*ways}) == 2:
                return {name: without if off else with_it}
    return {}


def _effort(template: TellableTemplate, mode: str, switch: Mapping[str, Any]) -> dict[str, Any]:
    """What the template is to be told of how much to think, which it may refuse."""
    if mode == "on" or not _knows(template, _EFFORT):
        return {}
    usual = _rendered(template.told(switch))
    ways = (_NONE, _LOW) if mode == "off" and re.search(rf"['\"]{_NONE}['\"]", template.source) else (_LOW,)
    for way in ways:
        if _rendered(template.told({**switch, _EFFORT: way})) not in ("", usual):
            return {_EFFORT: way}
    return {}


def _knows(template: TellableTemplate, name: str) -> bool:
    return not template.source or re.search(rf"\b{name}\b", template.source) is not None


def _unseen(template: ChatTemplate) -> bool:
    """Whether it is another's to render, and takes variables all the same."""
    return isinstance(template, TellableTemplate) and not template.source


def _rendered(template: ChatTemplate) -> str:
    """A prompt; empty where the template refuses it."""
    try:
        return template.render([Message("system", "?"), Message("user", _PROBE)])
    except PredtuiError:
        return ""
