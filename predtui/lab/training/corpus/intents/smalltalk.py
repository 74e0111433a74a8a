"""Small talk: what people say with no question in it, their feelings, and jokes; one fixed reply a case.

What is said without a slot stands in the table ``smalltalk``, its wordings in ``smalltalk_wordings``. Knows nothing
of openers, styles or splits.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from predtui.lab.training.corpus.read import keys, phrases, rows
from predtui.lab.training.corpus.types import Case, Intent

_GROUP = "smalltalk"
_SHARE = 8.0
"""Weight of all small talk without slots together."""


def _one_of(cases: Sequence[Case]) -> Callable[[random.Random], Case]:
    return lambda rng: rng.choice(cases)


def _acts() -> list[Intent]:
    """One intent a row: a single case, asked in its own wordings."""
    table, said = rows("facts/smalltalk"), phrases("smalltalk")
    total = sum(float(row["weight"]) for row in table)
    return [
        Intent(
            f"talk_{row['name']}",
            said[row["name"]],
            _one_of([Case({}, row["reply"], keys(row["key"]))]),
            weight=_SHARE * float(row["weight"]) / total,
            group=_GROUP,
        )
        for row in table
    ]


def _feelings() -> list[list[Case]]:
    """The cases of each feeling: the same answer for each of its names."""
    return [
        [Case({"feeling": name}, row["reply"], keys(row["key"])) for name in keys(row["feelings"])]
        for row in rows("facts/feelings")
    ]


_COMMON = 0.3
"""Share of a feeling's usual name, the first of its table: "sad" before "blue"."""


def _draw_feeling(rng: random.Random) -> Case:
    cases = rng.choice(_FELT)
    return cases[0] if rng.random() < _COMMON else rng.choice(cases)


_FELT = _feelings()
_TOLD = [Case({"topic": row["topic"]}, row["joke"], keys(row["key"])) for row in rows("facts/jokes")]

INTENTS: tuple[Intent, ...] = (
    *_acts(),
    Intent("feeling", phrases("feelings")["feeling"], _draw_feeling, weight=3.0, group=_GROUP),
    Intent("joke_about", phrases("jokes")["joke_about"], _one_of(_TOLD), weight=1.6, group=_GROUP),
)
