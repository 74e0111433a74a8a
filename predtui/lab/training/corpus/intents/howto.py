"""How to do everyday tasks: one intent over the table ``howto``.

Knows nothing of openers, styles or splits.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

from predtui.lab.training.corpus.read import rows
from predtui.lab.training.corpus.tabled import keys
from predtui.lab.training.corpus.types import Case, Intent, Phrases

_PHRASES = Phrases(
    noun=(
        "the {best|right|proper|easiest|simplest|quickest} way to <task>",
        "a {good|quick|simple|safe} way to <task>",
        "the best way of <gerund>",
        "the steps {for <gerund>|to <task>}",
        "the trick to <gerund>",
        "some {tips|advice|help|instructions} for <gerund>",
        "instructions to <task>",
        "a guide to <gerund>",
        "the method for <gerund>",
        "the key to <gerund>",
        "advice on how to <task>",
        "the secret of <gerund>",
        "an explanation of how to <task>",
        "the order of the steps for <gerund>",
        "the basics of <gerund>",
    ),
    question=(
        "how {do|can|should|would} I <task>",
        "how do {you|people|we} <task>",
        "how does {one|someone|a beginner} <task>",
        "how to <task>",
        "how is <gerund> done",
        "how does <gerund> work",
        "what do I {do|need to do} to <task>",
        "what should I do to <task>",
        "what steps do I {take|follow} to <task>",
        "what is involved in <gerund>",
        "where do I start with <gerund>",
        "I {want|need|would like|have} to <task>",
        "I {want|need} to know how to <task>",
        "I {don't know|have no idea|forgot|am not sure} how to <task>",
        "I need {help|some help|advice} <gerund>",
        "I {have|am having} trouble <gerund>",
        "I am trying to <task>",
        "I never {learned|understood} how to <task>",
        "any {tips|ideas|advice} for <gerund>",
        "is there {a trick|an easy way|a good way} to <task>",
        "<gerund>, how {does it work|is it done|do I start}",
        "my {friend|mother|son} asked me how to <task>",
        "steps {for <gerund>|to <task>}",
        "do you know anything about <gerund>",
        "I have never tried <gerund>, how do I do it",
        "{<task>|<gerund>} how",
        "what is the {best|right|easiest} way to <task>",
        "could you help me <task>",
        "what do I need to know about <gerund>",
        "is <gerund> hard, and how do {we|I} do it",
        "which steps are there for <gerund>",
        "what comes first when <gerund>",
        "how can a person <task>",
        "how do I go about <gerund>",
        "how would you <task>",
        "in what way do I <task>",
        "what would you do to <task>",
        "I have to <task>, what do I do",
        "today I want to <task>, how do I begin",
        "I would like to learn how to <task>",
        "{has anyone|have you} got advice on <gerund>",
        "nobody ever showed me how to <task>",
    ),
    clause=(
        "how to <task>",
        "how I {can|should|could} <task>",
        "how {you|people} <task>",
        "how <gerund> {works|is done}",
        "how does <gerund> work",
        "tell me how <gerund> works",
        "what to do to <task>",
        "what I {need|have} to do to <task>",
        "what the best way to <task> is",
        "what steps I need for <gerund>",
        "how one goes about <gerund>",
        "in which order to do things to <task>",
    ),
    command=(
        "teach me {to|how to} <task>",
        "show me how to <task>",
        "explain {how to <task>|<gerund>}",
        "explain the steps {for|of} <gerund>",
        "help me[ to] <task>",
        "help me with <gerund>",
        "walk me through <gerund>",
        "guide me through <gerund>",
        "give me {the steps|instructions|a few tips|advice} for <gerund>",
        "describe how to <task>",
        "describe to me how to <task>",
        "describe the way to <task>",
        "list the steps {for <gerund>|to <task>}",
        "find out how to <task>",
        "tell me how to <task>",
        "instruct me on how to <task>",
        "break down how to <task>",
        "tell me the steps for <gerund>",
        "take me through <gerund>",
        "give me a hand with <gerund>",
    ),
    followup=(
        "and how do I <task>",
        "and <gerund>",
        "and how to <task>",
        "{what|how} about <gerund>",
        "and what if I want to <task>",
        "and the best way to <task>",
        "then how do I <task>",
        "and the steps for <gerund>",
        "also how do I <task>",
        "now teach me to <task>",
    ),
)
_ALSO = 0.4
"""Share of tasks that are named in other words than the reply's."""
_DETERMINER = re.compile(r"\b(?:a|an|the|my)\b")
_OWN = 0.2
"""Share of tasks whose object is named by another determiner: "wash my dog" for "wash a dog"."""


def _names(row: Mapping[str, str]) -> list[tuple[str, str]]:
    """What a task is called, as an infinitive and a gerund: first as the reply says it, then otherwise."""
    others = (also.partition("=") for also in keys(row["also"]))
    return [(row["task"], row["gerund"]), *((task, gerund) for task, _, gerund in others)]


_TASKS = tuple((row, _names(row)) for row in rows("howto"))


def _draw(rng: random.Random) -> Case:
    row, names = rng.choice(_TASKS)
    task, gerund = rng.choice(names[1:]) if names[1:] and rng.random() < _ALSO else names[0]
    if rng.random() < _OWN:
        determiner = rng.choice(("my", "the"))
        task, gerund = (_DETERMINER.sub(determiner, name, count=1) for name in (task, gerund))
    return Case({"task": task, "gerund": gerund}, row["reply"], keys(row["key"]), row["short"])


INTENTS: tuple[Intent, ...] = (Intent("howto", _PHRASES, _draw, weight=4.5, group="howto"),)
