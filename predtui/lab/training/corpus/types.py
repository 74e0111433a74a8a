"""The types that the pocket corpus is made of: cases, intents, examples.

An *intent* knows how people ask (its phrases) and what the right answer is (its cases). Everything
else, such as openers, casing, truncation, recogniser style, dialogue and the held-out splits, is
composed around it by ``corpus.compose`` and ``corpus.frames``. Knows nothing of tokens or training.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from predtui.state.events import Message

Split = Literal["train", "slots", "frames"]
"""``train``: seen. ``slots``: a seen phrase with a seen slot, in a combination held out.
``frames``: a phrase template held out whole."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """How one intent is worded. Strings are templates (see ``corpus.grammar``): ``<slot>`` is filled from
    ``Case.slots``, ``{a|b}`` chooses, ``[x]`` may be left out. Composed with the openers of ``corpus.frames``:

    noun      "the capital of <country>"              after "what is", "tell me", "do you know", ...
    question  "which city is the capital of <country>"  stands alone, or after "quick question:", ...
    clause    "what the capital of <country> is"      after "i would like to know", "can you tell me", ...
    command   "set a timer for <duration>"            stands alone, or after "please", "can you", ...
    followup  "and of <country>"                      only after a turn of the same intent
    Written in ordinary case and without final punctuation: the composer adds both, or takes both away.
    """

    noun: tuple[str, ...] = ()
    question: tuple[str, ...] = ()
    clause: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    followup: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that can be asked, with its one right reply.

    ``reply`` restates the slots early, in one to four complete sentences, always the same words for the same case.
    ``key`` are strings (compared case-insensitively) that any right reply holds; empty means that the whole reply
    is the key.
    ``short`` answers "say that shorter"; empty means the first sentence of ``reply``.
    ``also`` holds what else is true of the case: a reply that says some of it is not wrong.
    """

    slots: Mapping[str, str]
    reply: str
    key: tuple[str, ...] = ()
    short: str = ""
    also: str = ""


@dataclass(frozen=True, slots=True)
class Intent:
    """A kind of question. ``draw`` gives one of its cases at random; ``weight`` is its share in the mixture."""

    name: str
    phrases: Phrases
    draw: Callable[[random.Random], Case]
    weight: float = 1.0
    group: str = ""
    """The line of the evaluation it counts under, e.g. ``facts``; empty means ``name``."""


@dataclass(frozen=True, slots=True)
class Example:
    """A dialogue whose last message is the assistant's reply to learn.

    Earlier assistant messages are context; ``learn_all`` says whether their tokens are trained on as well.
    ``kind``: ``reply`` (ordinary), ``truncated`` (the last user turn was cut), ``judge`` (a yes/no consistency
    judgement).
    """

    messages: tuple[Message, ...]
    intent: str
    split: Split
    kind: Literal["reply", "truncated", "judge"] = "reply"
    key: tuple[str, ...] = ()
    template: str = ""
    learn_all: bool = False
    slots: Mapping[str, str] = field(default_factory=dict)
    also: str = ""
    fitting: int | None = None
    """Of a ``judge`` example: how many words of the judged answer fit its question, before the first that does not;
    None: all."""
