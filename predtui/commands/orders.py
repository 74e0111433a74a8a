"""What one may ask for in a conversation in lines, besides replies: one line each. Must not know how lines are read."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from predtui.commands.paper import Paper
from predtui.commands.printers import LinePrinter
from predtui.errors import PredtuiError
from predtui.registry import VERIFIERS
from predtui.runtime.pipeline import Pipeline
from predtui.state.turn import Turn


class Talk(Protocol):
    """What an order may use."""

    pipeline: Pipeline
    paper: Paper
    turn: Turn
    leaving: bool


@dataclass(frozen=True, slots=True)
class Order:
    """``name``: what is typed behind a slash. ``act`` takes the conversation and what is typed behind the name."""

    name: str
    meaning: str
    act: Callable[[Talk, str], None]


def _help(talk: Talk, _: str) -> None:
    talk.paper.say("Type a line, and it is answered. What begins with a slash is an order:")
    for order in ORDERS:
        talk.paper.say(f"/{order.name}: {order.meaning}")


def _talk(talk: Talk, _: str) -> None:
    talk.pipeline.talk(talk.turn.phase != "listening")


def _verifier(talk: Talk, name: str) -> None:
    if not name:
        talk.paper.say("\n".join(VERIFIERS.lines()))
        return
    try:
        told = VERIFIERS.line(name)
    except PredtuiError as error:
        talk.paper.note(str(error))
        return
    talk.pipeline.configure(verifier=name)
    talk.paper.say(f"verifier {told}")


def _figures(talk: Talk, _: str) -> None:
    out = io.StringIO()
    LinePrinter(out).close(talk.turn)
    talk.paper.say(out.getvalue())


def _leave(talk: Talk, _: str) -> None:
    talk.leaving = True


ORDERS = (
    Order("help", "this list", _help),
    Order("talk", "speak; an empty line does too, and ends it", _talk),
    Order("silence", "silence the reply; so does Ctrl+C", lambda talk, _: talk.pipeline.silence()),
    Order("verifier", "how guesses are verified: /verifier NAME; alone, it tells the names", _verifier),
    Order("figures", "what the last turn took, and would have taken without speculation", _figures),
    Order("again", "try stages again that have failed", lambda talk, _: talk.pipeline.restart_stage()),
    Order("new", "begin a new conversation; this one stays kept", lambda talk, _: talk.pipeline.resume()),
    Order("quit", "leave; so does Ctrl+D", _leave),
)


def order_named(name: str) -> Order | None:
    return next((order for order in ORDERS if order.name == name), None)
