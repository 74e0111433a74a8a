"""Recommendations by topic: one fixed suggestion a topic, from the table ``recommend``.

Knows nothing of openers, styles or splits.
"""

from __future__ import annotations

import random

from predtui.lab.training.corpus.read import keys, phrases, rows
from predtui.lab.training.corpus.types import Case, Intent

_ASKED = phrases("recommend")["recommend"]
_CASES = tuple(
    Case({"topic": row["topic"], "bare": row["bare"]}, row["reply"], keys(row["key"]))
    for row in rows("facts/recommend")
)


def _draw(rng: random.Random) -> Case:
    return rng.choice(_CASES)


INTENTS: tuple[Intent, ...] = (Intent("recommend", _ASKED, _draw, weight=1.4, group="recommend"),)
