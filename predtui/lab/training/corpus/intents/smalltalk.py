"""Small talk: what people say with no question in it, their feelings, and jokes; one fixed reply a case.

What is said without a slot stands in the table ``smalltalk``, its wordings in ``smalltalk_wordings``. Knows nothing
of openers, styles or splits.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from predtui.lab.training.corpus.read import rows
from predtui.lab.training.corpus.tabled import keys, phrases
from predtui.lab.training.corpus.types import Case, Intent, Phrases

_GROUP = "smalltalk"
_SHARE = 8.0
"""Weight of all small talk without slots together."""

_FEELINGS = Phrases(
    question=(
        "I am [so|very|really|a little|quite] <feeling>",
        "I'm [so|very|really|a bit|pretty] <feeling>",
        "I'm feeling [so|very|pretty] <feeling>",
        "today I'm pretty <feeling>",
        "I feel [so|very|really|a little|quite] <feeling>",
        "I am feeling [so|very|rather|a bit] <feeling>",
        "I am [so|very|really] <feeling> {today|right now|at the moment|tonight|this morning}",
        "I feel [so|very|a bit] <feeling> {today|right now|at the moment|tonight|this morning}",
        "I am feeling <feeling> {today|right now|lately|these days|again}",
        "{today|right now|at the moment|lately} I {feel|am} <feeling>",
        "I have {been|felt} <feeling> {all day|lately|since yesterday|all week|for days}",
        "I {was|felt} <feeling> {all day|this morning|yesterday|last night}",
        "why am I so <feeling>",
        "why do I feel so <feeling>",
        "what {should|can|do} I do when I am <feeling>",
        "what {should|can} I do, I {am|feel} <feeling>",
        "I {am|feel} <feeling>, what now",
        "I {think|guess|must say} that I am <feeling>",
        "I just feel <feeling>",
        "I don't know why but I {am|feel} <feeling>",
        "I don't know why I feel <feeling>",
        "but why do I feel <feeling>",
        "everything makes me <feeling>",
        "my day made me <feeling>",
        "it makes me <feeling>",
        "I {get|got|became} <feeling>",
        "I {woke up|came home} <feeling>",
        "honestly I {am|feel} <feeling>",
        "to be honest I am <feeling>",
        "I have to admit I am <feeling>",
        "you know I am <feeling>",
        "feeling <feeling> {today|right now|again|here}",
        "so <feeling> {today|right now|again}",
        "I never felt so <feeling>",
        "I've been [so|very|really] <feeling> {all day|lately|today|recently|this week}",
        "I'm [so|really|a bit] <feeling> {at the moment|right now|this morning|today|tonight}",
        "{right now|today|tonight|this morning} I'm [so|very|a bit] <feeling>",
        "why am I <feeling>",
        "why am I {always|still|suddenly} so <feeling>",
        "I'm {always|often|still|suddenly} [so] <feeling>",
        "I {always|often|still|suddenly} feel [so] <feeling>",
        "I keep feeling <feeling>",
        "I can't help feeling <feeling>",
        "I {started|began} to feel <feeling>",
        "I'm {starting|beginning} to feel <feeling>",
        "I'm not sure why I'm so <feeling>",
        "what can I do when I feel <feeling>",
        "I'm <feeling>, what should I do",
        "I'm [so] <feeling>, help me",
        "I'm <feeling>, any ideas",
        "I {would say|suppose|reckon} I'm <feeling>",
        "well I'm [pretty|quite|very] <feeling>",
        "oh I'm [so|pretty|very] <feeling>",
        "actually I'm [quite|pretty|rather] <feeling>",
        "I'm just [so|a bit|very] <feeling>",
        "I'm getting [so|really|a bit] <feeling>",
        "I woke up feeling <feeling>",
        "I've never been so <feeling>",
        "I have never been this <feeling>",
        "it makes me feel [so|very] <feeling>",
        "that {makes|made} me [feel] <feeling>",
        "work makes me <feeling>",
        "life makes me <feeling>",
        "somehow I {feel|am} <feeling>",
        "me, I'm <feeling>",
        "I'm <feeling> and I don't know {why|what to do}",
        "is it {normal|okay} to feel <feeling>",
        "guess how I feel, <feeling>",
        "feeling [a bit|very|so] <feeling>",
    ),
)
_JOKES = Phrases(
    noun=(
        "a [good|funny|short] joke about <topic>",
        "a <topic> joke",
        "the best joke about <topic>",
        "something funny about <topic>",
        "a joke with <topic> in it",
        "your best <topic> joke",
        "a joke on the subject of <topic>",
        "another joke about <topic>",
        "a good one about <topic>",
        "the funniest joke about <topic>",
    ),
    question=(
        "do you {know|have} {a joke|any jokes|a good joke} about <topic>",
        "do you {know|have} a <topic> joke",
        "{can|could} you {tell|make} [me] a joke about <topic>",
        "can I hear a joke about <topic>",
        "I {want|would like} [to hear] a joke about <topic>",
        "I need a joke about <topic>",
        "got {a joke|any jokes} about <topic>",
        "how about a joke about <topic>",
        "what is funny about <topic>",
        "joke about <topic>",
        "<topic> joke",
        "any jokes about <topic>",
        "is there a joke about <topic>",
        "have you got {a joke|any jokes|a good joke} about <topic>",
        "have you heard {a joke|a good one} about <topic>",
        "what's a good joke about <topic>",
        "what's your best joke about <topic>",
        "I'd like [to hear] {a joke|something funny} about <topic>",
        "I'm in the mood for a joke about <topic>",
        "jokes about <topic>",
        "do you know anything funny about <topic>",
        "got a <topic> joke",
        "got any <topic> jokes",
        "any good <topic> jokes",
        "a joke about <topic> [please]",
        "let's hear {a joke|one} about <topic>",
        "I love jokes about <topic>",
        "could I hear a <topic> joke",
    ),
    command=(
        "tell [me] a [good|funny|short|silly] joke about <topic>",
        "tell me a <topic> joke",
        "tell me something funny about <topic>",
        "make a joke about <topic>",
        "make me laugh about <topic>",
        "give me a [good|funny|short] joke about <topic>",
        "give me a <topic> joke",
        "share a joke about <topic>",
        "say something funny about <topic>",
        "joke about <topic>",
        "let me hear a joke about <topic>",
        "let me have a joke about <topic>",
        "let me hear something funny about <topic>",
        "crack a joke about <topic>",
        "tell us a joke about <topic>",
        "tell me your best joke about <topic>",
        "tell a <topic> joke",
        "hit me with a <topic> joke",
        "say a joke about <topic>",
        "make up a joke about <topic>",
        "think of a joke about <topic>",
        "joke a bit about <topic>",
        "entertain me with a joke about <topic>",
        "tell me one of your <topic> jokes",
    ),
    followup=(
        "and one about <topic>",
        "and about <topic>",
        "{what|how} about <topic>",
        "and a joke about <topic>",
        "now one about <topic>",
        "another one about <topic>",
        "and <topic>",
        "tell me one about <topic>",
        "and one with <topic>",
        "do you have one about <topic>",
        "do one about <topic>",
        "and what about <topic>",
        "got one about <topic>",
        "now a joke about <topic>",
        "one about <topic> [please]",
        "[okay] any about <topic>",
        "now <topic>",
        "the same with <topic>",
        "and do you know one about <topic>",
        "[okay] another, about <topic>",
    ),
)


def _one_of(cases: Sequence[Case]) -> Callable[[random.Random], Case]:
    return lambda rng: rng.choice(cases)


def _acts() -> list[Intent]:
    """One intent a row: a single case, asked in its own wordings."""
    table, said = rows("smalltalk"), phrases("smalltalk_wordings")
    total = sum(float(row["weight"]) for row in table)
    return [
        Intent(
            f"talk_{row['name']}",
            said[row["name"]],
            _one_of([Case({}, row["reply"], keys(row["key"]))]),
            weight=_SHARE * float(row["weight"]) / total,
            group=_GROUP,
        )
        for row in table
    ]


def _feelings() -> list[list[Case]]:
    """The cases of each feeling: the same answer for each of its names."""
    return [
        [Case({"feeling": name}, row["reply"], keys(row["key"])) for name in keys(row["feelings"])]
        for row in rows("feelings")
    ]


_COMMON = 0.3
"""Share of a feeling's usual name, the first of its table: "sad" before "blue"."""


def _draw_feeling(rng: random.Random) -> Case:
    cases = rng.choice(_FELT)
    return cases[0] if rng.random() < _COMMON else rng.choice(cases)


_FELT = _feelings()
_TOLD = [Case({"topic": row["topic"]}, row["joke"], keys(row["key"])) for row in rows("jokes")]

INTENTS: tuple[Intent, ...] = (
    *_acts(),
    Intent("feeling", _FEELINGS, _draw_feeling, weight=3.0, group=_GROUP),
    Intent("joke_about", _JOKES, _one_of(_TOLD), weight=1.6, group=_GROUP),
)
