"""The same request in other words that mean the same: what a model learns from that a wording is not its meaning.

Works on a wording whose slots are still open, so that no value of them is touched. Every exchange leaves the request
what it was, wherever it stands. Knows nothing of intents, frames or splits.
"""

from __future__ import annotations

import random
import re

_ALIKE = """
what is|what's
who is|who's
where is|where's
that is|that's
it is|it's
i am|i'm
i would|i'd
i have been|i've been
you are|you're
there is|there's
do not|don't
does not|doesn't
did not|didn't
cannot|can't
could not|couldn't
is not|isn't
can you|could you|would you|will you
can i|could i|may i
i want to|i wish to|i would like to|i'd like to
how do i|how can i|how should i|how would i|how does one
right now|at the moment|at present|just now
maybe|perhaps
really|truly
need|require
big|large
quickly|fast
buy|purchase
answer|reply|response
a lot of|lots of|plenty of
often|frequently
help me|assist me
calculate|compute
currently|presently
kind of|sort of|type of
nobody|no one
somebody|someone
anybody|anyone
terrible|awful|horrible|dreadful
wonderful|fantastic|terrific|marvelous
nice|lovely
funny|hilarious|amusing
smart|clever|intelligent
stupid|dumb
kids|children
mother|mom|mum
father|dad
picture|photo|image
movie|film
repair|mend
usually|normally|generally|typically
exactly|precisely
simple|easy
difficult|hard
recommend|suggest
choose|pick|select
glad|pleased
certain|sure
mistake|error
begin|start
talk to|speak with|speak to|talk with
wrong|incorrect|false
is called|is named
"""
_GROUPS = [row.split("|") for row in _ALIKE.strip().splitlines()]
_OTHERS = {one: [other for other in group if other != one] for group in _GROUPS for one in group}
_ANY = "|".join(re.escape(one) for one in sorted(_OTHERS, key=len, reverse=True))
_EXCHANGEABLE = re.compile(rf"(?<![\w<'-])(?:{_ANY})(?![\w>'-])", re.IGNORECASE)
_LITTLE = re.compile(r"(?<![\w<'-])(?:the|a|an|is|are|do|does|of|to|for|it|me|my) (?=[\w<])")
_EXCHANGED, _LOST = 0.25, 0.03
"""Chances that an exchangeable phrase is exchanged, and that a little word is lost."""


def vary(wording: str, rng: random.Random) -> str:
    """``wording`` with some of its phrases exchanged, and now and then a little word lost, as a recogniser loses it."""

    def other(match: re.Match[str]) -> str:
        return rng.choice(_OTHERS[match[0].lower()]) if rng.random() < _EXCHANGED else match[0]

    def kept(match: re.Match[str]) -> str:
        return "" if rng.random() < _LOST else match[0]

    return _LITTLE.sub(kept, _EXCHANGEABLE.sub(other, wording))
