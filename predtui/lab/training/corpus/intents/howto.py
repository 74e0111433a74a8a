"""How to do everyday tasks: one intent over the table ``howto``.

Knows nothing of openers, styles or splits.
"""

from __future__ import annotations

import random
import re

from predtui.lab.training.corpus.read import Row, keys, phrases, rows
from predtui.lab.training.corpus.types import Case, Intent

_ASKED = phrases("howto")["howto"]
_ALSO = 0.4
"""Share of tasks that are named in other words than the reply's."""
_DETERMINER = re.compile(r"\b(?:a|an|the|my)\b")
_OWN = 0.2
"""Share of tasks whose object is named by another determiner: "wash my dog" for "wash a dog"."""


def _names(row: Row) -> list[tuple[str, str]]:
    """What a task is called, as an infinitive and a gerund: first as the reply says it, then otherwise."""
    others = (also.partition("=") for also in keys(row["also"]))
    return [(row["task"], row["gerund"]), *((task, gerund) for task, _, gerund in others)]


_TASKS = tuple((row, _names(row)) for row in rows("facts/howto"))


def _draw(rng: random.Random) -> Case:
    row, names = rng.choice(_TASKS)
    task, gerund = rng.choice(names[1:]) if names[1:] and rng.random() < _ALSO else names[0]
    if rng.random() < _OWN:
        determiner = rng.choice(("my", "the"))
        task, gerund = (_DETERMINER.sub(determiner, name, count=1) for name in (task, gerund))
    return Case({"task": task, "gerund": gerund}, row["reply"], keys(row["key"]), row["short"])


INTENTS: tuple[Intent, ...] = (Intent("howto", _ASKED, _draw, weight=4.5, group="howto"),)
