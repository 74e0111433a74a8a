"""What people say around a question: openers for each form, greetings, hesitations and closers.

Turns a bare phrase ("the capital of <country>") into what a person says ("hey, can you tell me the capital of
<country>, please") with its final mark. Knows nothing of intents, and leaves slots as they are.
"""

from __future__ import annotations

import random
from itertools import accumulate
from typing import Literal

Form = Literal["noun", "question", "clause", "command", "followup"]

_NOUN = """
30 ? what is
20 ? what's
8 ? *
6 . tell me
4 ? can you tell me
3 ? could you tell me
3 ? do you know
2 . give me
2 . I need
2 . I need to know
2 . I want to know
2 . I'd like to know
2 . I would like to know
2 . please tell me
2 . let me know
1 ? do you happen to know
1 ? would you tell me
1 ? would you know
1 ? will you tell me
1 ? could you give me
1 ? can you give me
1 ? what would be
1 ? what exactly is
1 ? so what is
1 ? okay what is
1 ? and what is
1 ? and what's
1 ? any idea of
1 ? can you look up
1 ? can you find
1 ? can you remind me of
1 ? may I ask
1 ? might I know
1 . I wonder about
1 . I wonder what is
1 . I was wondering about
1 . remind me of
1 . I forgot
1 . I forget
1 . I can't remember
1 . I'm looking for
1 . I am curious about
1 . I'm trying to find
1 . look up
1 . name
1 . just tell me
1 . now tell me
1 . help me find
1 . say
1 . my question is about
"""

_CLAUSE = """
8 ? can you tell me
6 ? do you know
5 ? could you tell me
4 . I would like to know
4 . I want to know
4 . tell me
3 . I'd like to know
3 ? do you happen to know
2 . I wonder
2 . I was wondering
2 . I need to know
2 . please tell me
2 . I'm not sure
1 ? would you tell me
1 ? would you know
1 ? will you tell me
1 ? may I ask
1 ? can you remind me
1 ? could you remind me
1 ? can you say
1 ? any idea
1 ? do you remember
1 ? can you explain
1 ? could you let me know
1 . I forgot
1 . I can't remember
1 . I don't know
1 . I have no idea
1 . I am curious
1 . I'm trying to find out
1 . I'm wondering
1 . remind me
1 . let me know
1 . just tell me
1 . my question is
1 . explain to me
"""

_QUESTION = """
60 ? *
2 ? quick question,
2 ? so,
1 ? and
1 ? one question,
1 ? a quick one,
1 ? question,
1 ? just wondering,
1 ? tell me,
1 ? I have a question,
1 ? here is a question,
1 ? out of curiosity,
1 ? say,
1 ? please tell me,
1 ? do you know,
1 ? let me ask you,
1 ? maybe you know,
1 ? can I ask,
1 ? another question,
1 ? next question,
"""

_COMMAND = """
40 . *
8 . please
6 ? can you
5 ? could you
3 . I want you to
2 . I need you to
2 . I'd like you to
2 . I would like you to
2 ? will you
2 ? would you
2 ? can you please
2 ? could you please
1 ? would you please
1 . go ahead and
1 . now
1 . just
1 . quickly
1 . help me and
1 . kindly
1 . do me a favor and
1 . let's
1 . you should
1 ? are you able to
1 ? is it possible to
1 . I ask you to
"""

_FOLLOWUP = """
60 ? *
1 ? okay
1 ? so
1 ? thanks,
1 ? great,
1 ? right,
1 ? cool,
1 ? fine,
1 ? alright,
1 ? good,
"""

_GREETINGS = """
8 hey,
6 hi,
5 hello,
4 okay,
3 okay so
3 so
2 hey there,
2 hi there,
2 hello there,
2 good morning,
1 good evening,
1 good afternoon,
2 excuse me,
2 assistant,
1 hey assistant,
1 computer,
2 well,
1 alright,
1 right,
1 listen,
1 sorry,
1 oh,
6 um
4 uh
2 erm
2 hmm
2 um so
2 uh okay
1 let me think
1 let me see
1 like
"""

_CLOSERS = """
10 please
4 , please
3 , thanks
2 , thank you
2 , if you know
1 by any chance
1 , do you know
1 , I wonder
1 , please and thank you
"""
_COMMAND_CLOSERS = """
10 please
4 , please
4 for me
3 , thanks
2 , thank you
1 for me please
1 , would you
1 , okay
1 if you can
1 , please and thank you
"""

_GREETED = 0.16
_CLOSED = 0.10


class _Table:
    """Weighted entries, drawn by one random number each."""

    def __init__(self, text: str, marked: bool = True) -> None:
        rows = [line.split(" ", 2 if marked else 1) for line in text.strip().splitlines()]
        self.weights = list(accumulate(float(row[0]) for row in rows))
        self.entries = [(row[1] if marked else "", row[-1].replace("*", "")) for row in rows]

    def draw(self, rng: random.Random) -> tuple[str, str]:
        return rng.choices(self.entries, cum_weights=self.weights)[0]


_OPENERS: dict[Form, _Table] = {
    "noun": _Table(_NOUN),
    "clause": _Table(_CLAUSE),
    "question": _Table(_QUESTION),
    "command": _Table(_COMMAND),
    "followup": _Table(_FOLLOWUP),
}
_GREETING = _Table(_GREETINGS, marked=False)
_CLOSER = _Table(_CLOSERS, marked=False)
_COMMAND_CLOSER = _Table(_COMMAND_CLOSERS, marked=False)


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
