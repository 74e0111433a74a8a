"""Turns that speak of the reply before: shorter, again, are you sure, why.

Their answers are made of the turn before, so they are described here as ``AfterTurn`` and composed by
``corpus.compose``; asked with nothing before them, they are ordinary intents with an honest reply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from predtui.lab.training.corpus.read import phrases
from predtui.lab.training.corpus.text import sentences
from predtui.lab.training.corpus.types import Case, Intent, Phrases


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


_ASKED = phrases("followups")
AGAIN = AfterTurn("again", _ASKED["again"], lambda case: case.reply)
AFTER_TURN = (
    AfterTurn("shorter", _ASKED["shorter"], shorter),
    AGAIN,
    AfterTurn("certain", _ASKED["certain"], _sure),
    AfterTurn("reason", _ASKED["reason"], _why),
)


def _without(name: str, phrases: Phrases, reply: str) -> Intent:
    case = Case({}, reply)
    return Intent(f"{name}_of_nothing", phrases, lambda rng: case, weight=0.05, group="followups")


OF_NOTHING = (
    _without("shorter", _ASKED["shorter"], "I have not said anything yet. Ask me something first."),
    _without("again", _ASKED["again"], "I have not said anything yet. Ask me something first."),
    _without(
        "certain", _ASKED["certain"], "I have not said anything yet that I could be sure of. Ask me something first."
    ),
    _without("reason", _ASKED["reason"], "I have not said anything yet that I could explain. Ask me something first."),
)
"""The same requests with nothing said before them: only the first turn of a conversation can be one of these."""
INTENTS = OF_NOTHING
