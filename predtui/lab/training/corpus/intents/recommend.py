"""Recommendations by topic: one fixed suggestion a topic, from the table ``recommend``.

Knows nothing of openers, styles or splits.
"""

from __future__ import annotations

import random

from predtui.lab.training.corpus.read import rows
from predtui.lab.training.corpus.tabled import keys
from predtui.lab.training.corpus.types import Case, Intent, Phrases

_PHRASES = Phrases(
    noun=(
        "a good <bare>",
        "a {nice|great|fine} <bare>",
        "the best <bare>",
        "a good idea for <topic>",
        "a {recommendation|suggestion|tip} for <topic>",
        "your {favorite|top} <bare>",
        "a <bare> that you {recommend|like|would pick}",
        "a <bare> worth {trying|having}",
        "an idea for <topic>",
    ),
    question=(
        "{can|could|would|will} you {recommend|suggest} <topic>",
        "do you {have|know} a good <bare>",
        "do you have {a recommendation|a suggestion|an idea|ideas} for <topic>",
        "{what|which} <bare> {do|would|can} you {recommend|suggest}",
        "{what|which} <bare> should I {choose|pick|try|get}",
        "what would be a good <bare>",
        "what would you {recommend|suggest} as <topic>",
        "what is <topic> that you would recommend",
        "I {need|want} <topic>",
        "I {need|want} a {good|nice|new} <bare>",
        "I am looking for <topic>",
        "I am looking for a {good|nice|new} <bare>",
        "I would like a {recommendation|suggestion} for <topic>",
        "I {can't|cannot} decide on <topic>",
        "I {can't|cannot} find a good <bare>",
        "I am {searching for|thinking about} <topic>",
        "any {ideas|recommendations|suggestions|tips} for <topic>",
        "any good <bare>",
        "got {any|an} {idea|suggestion} for <topic>",
        "is there a good <bare>",
        "how about <topic>, {any ideas|what do you suggest}",
        "which <bare> would you {pick|choose|take}",
        "<topic>, {what do you recommend|any ideas|what would you pick}",
        "<bare> {recommendation|suggestion|idea}",
        "what <bare> is {worth trying|good|nice}",
        "what is your idea for <topic>",
        "what do you think is a good <bare>",
        "have you got a good <bare> for me",
        "I am out of ideas for <topic>",
        "could you help me find <topic>",
        "which <bare> is the best one for me",
        "I could use <topic>",
        "what would make a {good|nice} <bare>",
        "we are looking for <topic>, any ideas",
        "my friends want <topic>, what do you suggest",
    ),
    clause=(
        "what <bare> {you recommend|you would pick|I should choose}",
        "which <bare> {is good|I should try|to choose}",
        "what a good <bare> would be",
        "if there is a good <bare>",
        "which <bare> you would suggest",
        "what you recommend as <topic>",
        "which <bare> you like best",
    ),
    command=(
        "{recommend|suggest} <topic>",
        "{recommend|suggest} me <topic>",
        "{recommend|suggest} a {good|nice|new} <bare>",
        "{recommend|suggest} <topic> {for me|to me}",
        "give me {a recommendation|a suggestion|an idea|a tip} for <topic>",
        "help me {find|choose|pick} <topic>",
        "help me {find|choose|pick} a good <bare>",
        "find me a {good|nice} <bare>",
        "{pick|choose} <topic> for me",
        "name a good <bare>",
        "propose <topic>",
        "tell me a good <bare>",
        "come up with <topic>",
        "think of a {good|nice} <bare>",
        "advise me on <topic>",
        "offer me {an idea|a suggestion} for <topic>",
        "inspire me with <topic>",
        "tell me which <bare> to {try|choose}",
    ),
    followup=(
        "and <topic>",
        "{what|how} about <topic>",
        "and a good <bare>",
        "and which <bare>",
        "and can you recommend <topic>",
        "also <topic>",
        "and what <bare> should I choose",
        "now <topic>",
        "and for <topic>",
        "and also recommend <topic>",
    ),
)
_CASES = tuple(
    Case({"topic": row["topic"], "bare": row["bare"]}, row["reply"], keys(row["key"])) for row in rows("recommend")
)


def _draw(rng: random.Random) -> Case:
    return rng.choice(_CASES)


INTENTS: tuple[Intent, ...] = (Intent("recommend", _PHRASES, _draw, weight=1.4, group="recommend"),)
