"""Phrase templates: ``<slot>`` is filled later, ``{a|b}`` chooses, ``[x]`` may be left out; they nest.

A template is expanded in two steps, so that one wording can be filled for two cases: ``resolve`` makes the
choices, ``fill`` puts the slots in. Knows nothing of intents, frames or styles.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

_SLOT = re.compile(r"<(\w+)>")
_TOKEN = re.compile(r"[{}\[\]|]|[^{}\[\]|]+")
_CLOSING = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class _Choice:
    """One of several sub-templates; ``[x]`` is the choice between ``x`` and nothing."""

    options: tuple[tuple[str | _Choice, ...], ...]


@cache
def _parse(template: str) -> tuple[str | _Choice, ...]:
    """The template as a tree. Raises ValueError where brackets do not match."""
    tokens = _TOKEN.findall(template)
    position = 0

    def options(closing: str) -> tuple[tuple[str | _Choice, ...], ...]:
        nonlocal position
        found: list[tuple[str | _Choice, ...]] = []
        parts: list[str | _Choice] = []
        while position < len(tokens):
            token = tokens[position]
            position += 1
            if token == closing:
                return (*found, tuple(parts))
            if token in _CLOSING:
                inner = options(_CLOSING[token])
                parts.append(_Choice(inner if token == "{" else (*inner, ())))
            elif token == "|" and closing:
                found.append(tuple(parts))
                parts = []
            elif token in "}]|":
                break
            else:
                parts.append(token)
        else:
            if not closing:
                return (tuple(parts),)
        raise ValueError(f"brackets do not match in the template {template!r}")

    return options("")[0]


def check(template: str) -> None:
    """Raises ValueError where the brackets of ``template`` do not match."""
    _parse(template)


def _choose(parts: tuple[str | _Choice, ...], rng: random.Random, out: list[str]) -> None:
    for part in parts:
        if isinstance(part, str):
            out.append(part)
        else:
            _choose(part.options[int(rng.random() * len(part.options))], rng, out)


def resolve(template: str, rng: random.Random) -> str:
    """The template with every choice made and every ``<slot>`` still open, single-spaced."""
    out: list[str] = []
    _choose(_parse(template), rng, out)
    return " ".join("".join(out).split())


def _every(parts: tuple[str | _Choice, ...]) -> Iterator[str]:
    if not parts:
        yield ""
        return
    first, *rest = parts
    heads = (first,) if isinstance(first, str) else tuple(text for option in first.options for text in _every(option))
    for tail in _every(tuple(rest)):
        yield from (head + tail for head in heads)


def resolutions(template: str) -> Iterator[str]:
    """Everything that ``resolve`` may give."""
    return (" ".join(text.split()) for text in _every(_parse(template)))


def fill(text: str, slots: Mapping[str, str]) -> str:
    """``text`` with its slots filled. Raises KeyError for a slot without a value."""
    return _SLOT.sub(lambda match: slots[match[1]], text)


@cache
def slot_names(template: str) -> frozenset[str]:
    """The names of all slots of a template, those in optional parts too."""
    return frozenset(_SLOT.findall(template))


def expand(template: str, slots: Mapping[str, str], rng: random.Random) -> str:
    """One wording of the template, filled."""
    return fill(resolve(template, rng), slots)


@cache
def digest(template: str) -> str:
    """A short name of the template that stays the same from run to run (8 hex digits)."""
    return hashlib.blake2b(template.encode(), digest_size=4).hexdigest()
