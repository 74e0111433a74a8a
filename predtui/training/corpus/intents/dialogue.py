"""Turns that speak of the reply before: shorter, again, are you sure, why.

Their answers are made of the turn before, so they are described here as ``AfterTurn`` and composed by
``corpus.compose``; asked with nothing before them, they are ordinary intents with an honest reply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from predtui.training.corpus.text import sentences
from predtui.training.corpus.types import Case, Intent, Phrases


@dataclass(frozen=True, slots=True)
class AfterTurn:
    """A request about the last reply; ``answer`` makes the new reply out of the case that was asked before."""

    name: str
    phrases: Phrases
    answer: Callable[[Case], str]


def shorter(case: Case) -> str:
    """The short form of a reply: ``Case.short``, or its first sentence."""
    return case.short or sentences(case.reply)[0]


def _sure(case: Case) -> str:
    return f"Yes, I am sure. {shorter(case)}"


def _why(_: Case) -> str:
    return "I cannot explain why. I am a small demo model and only know the answer."


_SHORTER = Phrases(
    command=(
        "say that shorter",
        "say {it|that} {shorter|briefly|in short}",
        "make {it|that} shorter",
        "keep it short",
        "give me the short version",
        "give me a shorter {answer|version|reply}",
        "shorten {it|that|your answer}",
        "be {brief|short|concise}",
        "sum {it|that} up",
        "summarize {it|that}",
        "put that in {one sentence|fewer words|short}",
        "say it in {one sentence|fewer words|a few words}",
        "answer in {one sentence|fewer words}",
        "cut it short",
        "tell me that in {one sentence|short}",
        "repeat that but shorter",
        "repeat that in a shorter way",
        "the same but shorter",
        "repeat it shorter",
    ),
    question=(
        "in short",
        "shorter",
        "what is the short {version|answer}",
        "{can|could} you say {that|it} {shorter|in fewer words|more briefly}",
        "{can|could} you make {that|it} shorter",
        "{can|could} you be more {brief|concise}",
        "{can|could} you shorten {that|it}",
        "what does that mean in one sentence",
        "{can|could} I have the short {version|answer}",
        "and in one sentence",
        "that was too long",
        "is there a shorter answer",
    ),
)
_AGAIN = Phrases(
    command=(
        "repeat {that|it}[ please]",
        "say {that|it} again",
        "say that once more",
        "say that one more time",
        "repeat {your|the|that} {answer|reply}",
        "repeat what you {said|just said}",
        "repeat the thing you said",
        "what was it that you said",
        "tell me again",
        "tell me that again",
        "come again",
        "say again",
        "read that again",
        "give me that again",
        "give me the answer again",
        "go over that again",
        "repeat yourself",
    ),
    question=(
        "what did you say",
        "what was that",
        "pardon",
        "sorry what",
        "what did you just say",
        "{can|could|would} you repeat {that|it}",
        "{can|could|would} you say {that|it} again",
        "I didn't {catch|hear|get} that",
        "I did not {catch|hear|get} that",
        "I missed that",
        "what was the answer[ again]",
        "what was that again",
        "once more",
        "one more time",
        "again",
    ),
)
_CERTAIN = Phrases(
    question=(
        "are you sure",
        "are you certain",
        "are you sure about {that|it}",
        "are you certain about {that|it}",
        "are you really sure",
        "is that {right|true|correct}",
        "is it {right|true|correct}",
        "really",
        "is that really {right|true|so}",
        "is that a fact",
        "can I trust {that|you on that}",
        "can I trust this answer",
        "do you think I can trust you",
        "do you mean it",
        "you sure",
        "is that your final answer",
        "can you confirm {that|it}",
        "are you positive",
        "did you check that",
        "is your answer {right|correct}",
        "am I right to believe that",
    ),
    command=("confirm {that|it}", "double check {that|it}", "check {that|it} again", "check your answer"),
    clause=("if that is {right|true|correct}", "whether that is {right|true|correct}", "if you are sure"),
)
_REASON = Phrases(
    question=(
        "why",
        "why is that",
        "why so",
        "how come",
        "why is {that|it} so",
        "for what reason",
        "what is the reason",
        "why is that the case",
        "how do you know[ that]",
        "how so",
        "why do you say that",
        "what makes you say that",
        "and why",
        "but why",
        "what makes you so sure",
        "where do you know that from",
        "who told you that",
    ),
    command=("explain why", "explain that", "explain the reason", "give me a reason", "tell me why", "say why"),
    clause=("why", "why that is[ so]", "why it is so", "how you know that", "how come"),
    noun=("the reason", "the reason for {that|it}", "your reason"),
)

AGAIN = AfterTurn("again", _AGAIN, lambda case: case.reply)
AFTER_TURN = (
    AfterTurn("shorter", _SHORTER, shorter),
    AGAIN,
    AfterTurn("certain", _CERTAIN, _sure),
    AfterTurn("reason", _REASON, _why),
)


def _without(name: str, phrases: Phrases, reply: str) -> Intent:
    case = Case({}, reply)
    return Intent(f"{name}_of_nothing", phrases, lambda rng: case, weight=0.05, group="followups")


INTENTS = (
    _without("shorter", _SHORTER, "I have not said anything yet. Ask me something first."),
    _without("again", _AGAIN, "I have not said anything yet. Ask me something first."),
    _without("certain", _CERTAIN, "I have not said anything yet that I could be sure of. Ask me something first."),
    _without("reason", _REASON, "I have not said anything yet that I could explain. Ask me something first."),
)
