"""The same request in other words that mean the same: what a model learns from that a wording is not its meaning.

Works on a wording whose slots are still open, so that no value of them is touched. Every exchange leaves the request
what it was, wherever it stands. Knows nothing of intents, frames or splits.
"""

from __future__ import annotations

import random
import re

from predtui.lab.training.corpus.read import keys, rows

_GROUPS = [keys(row["alike"]) for row in rows("alike")]
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
