"""What people say around a question: openers for each form, greetings, hesitations and closers.

Turns a bare phrase ("the capital of <country>") into what a person says ("hey, can you tell me the capital of
<country>, please") with its final mark. Knows nothing of intents, and leaves slots as they are.
"""

from __future__ import annotations

import random
from itertools import accumulate
from typing import Literal

from predtui.lab.training.corpus.read import rows

Form = Literal["noun", "question", "clause", "command", "followup"]

_GREETED = 0.16
_CLOSED = 0.10


class _Place:
    """The weighted entries of one place around a question, drawn by one random number each."""

    def __init__(self, name: str) -> None:
        table = [row for row in rows("frames") if row["place"] == name]
        self.weights = list(accumulate(float(row["weight"]) for row in table))
        self.entries = [(row["mark"], row["text"]) for row in table]

    def draw(self, rng: random.Random) -> tuple[str, str]:
        return rng.choices(self.entries, cum_weights=self.weights)[0]


_FORMS: tuple[Form, ...] = ("noun", "clause", "question", "command", "followup")
_OPENERS = {form: _Place(form) for form in _FORMS}
_GREETING, _CLOSER, _COMMAND_CLOSER = _Place("greeting"), _Place("closer"), _Place("command_closer")


def openers(form: Form) -> list[str]:
    """All openers of a form; the empty one is among them where the bare phrase may stand alone."""
    return [text for _, text in _OPENERS[form].entries]


def frame(form: Form, phrase: str, rng: random.Random) -> tuple[str, str]:
    """``phrase`` with what is said around it, and the mark (``?`` or ``.``) that ends it when written."""
    mark, opener = _OPENERS[form].draw(rng)
    text = f"{opener} {phrase}" if opener else phrase
    if rng.random() < _GREETED:
        text = f"{_GREETING.draw(rng)[1]} {text}"
    if rng.random() < _CLOSED:
        closer = (_COMMAND_CLOSER if form == "command" else _CLOSER).draw(rng)[1]
        text += closer if closer[0] == "," else f" {closer}"
    return text, mark
