"""Where a reply ends whose template marks that by text, and not by a token: before what would come behind it.

What a template is, is found out by what it renders. Must not know of engines, or of how a reply is cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from predtui.errors import PredtuiError
from predtui.llm.base import ChatTemplate, Tokenizer
from predtui.llm.templates import PlainTemplate
from predtui.state.events import Message

_ASKED, _SAID = "predtui-asked", "predtui-said"
_MARK = re.compile(r"<[^<>\s]+>|\[/?[A-Z_]+\]")
"""What is never said."""


def stops_of(template: ChatTemplate, tokenizer: Tokenizer) -> tuple[str, ...]:
    """Strings before which a reply ends; none where there is a token of the vocabulary between it and what the user
    says next, or nothing but space."""
    if isinstance(template, PlainTemplate):
        return template.stops
    behind = _behind(template)
    plain, marked = tokenizer.encode(behind), tokenizer.encode(behind, special=True)
    token = any(len(tokenizer.encode(mark)) == 1 for mark in _MARK.findall(behind))
    return tuple(_lines(behind)) if plain and not token and marked[-len(plain) :] == plain else ()


def _behind(template: ChatTemplate) -> str:
    """What a template writes between a reply and the user's next words; nothing where it refuses to."""
    talk = [Message("user", _ASKED), Message("assistant", _SAID), Message("user", _ASKED)]
    try:
        text = template.render(talk)
    except PredtuiError:
        return ""
    behind, found, _ = text.rpartition(_SAID)[2].partition(_ASKED)
    return behind if found and _SAID in text else ""


def _lines(behind: str) -> Iterator[str]:
    """What each line of it begins with: a mark; or all of the line, with what tells it from the same words within a
    reply: the space before it, and, of a bare word, the end of the line."""
    rest = behind
    while rest.strip():
        space = rest[: len(rest) - len(rest.lstrip())]
        line, newline, after = rest.lstrip().partition("\n")
        mark, words = _MARK.match(line), line.rstrip()
        before = "\n" if "\n" in space else space[-1:]
        yield mark[0] if mark else before + words + (newline if words.isalnum() else "")
        rest = newline + after
