"""What the pocket model does not know, and says so: live data, people, history, commands, chatter, noise.

The tables ``unknown`` and ``unknown_wordings`` hold the kinds of prompt, ``unknown_words`` what their slots are filled
with; names of places that do not exist and noise are made up here. A slot with a number behind its name (``<n2>``)
is another value of the same list. Knows nothing of openers, styles or splits.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields

from predtui.lab.training.corpus.grammar import slot_names
from predtui.lab.training.corpus.read import phrases, rows, words
from predtui.lab.training.corpus.types import Case, Intent, Phrases

_ABILITIES = "Ask me about countries, numbers, units, time, everyday things or how to do simple tasks."
REPLIES = {
    "other": f"I am a small demo model, so I cannot help with that. {_ABILITIES}",
    "live": f"I am a small demo model without live data, so I cannot look that up. {_ABILITIES}",
}
"""The only answers to what is out of scope, by kind."""

_SHORT = {
    "other": "I am a small demo model, so I cannot help with that.",
    "live": "I am a small demo model without live data, so I cannot look that up.",
}
_KEY = ("small demo model", "cannot")
_SHARE = 7.0
"""Weight of all kinds together."""

_SYLLABLES = words("syllables")
_COUNTRIES = tuple(row["name"] for row in rows("facts/countries"))
_REAL = frozenset(name.lower() for row in rows("facts/countries") for name in (row["name"], *row["aliases"].split("|")))
_THINGS = frozenset(row["name"].lower() for row in rows("facts/things"))


def _syllables(count: int, rng: random.Random) -> str:
    return "".join(
        rng.choice(_SYLLABLES["onset"]) + rng.choice(_SYLLABLES["vowel"]) + rng.choice(_SYLLABLES["coda"])
        for _ in range(count)
    )


def _no_country(rng: random.Random) -> str:
    """A name that sounds like a country and is none."""
    while True:
        name = (_syllables(rng.randint(1, 2), rng) + rng.choice(_SYLLABLES["ending"])).capitalize()
        if name.lower() not in _REAL:
            return name


def _no_word(rng: random.Random) -> str:
    """A word that sounds like one and names nothing that the model knows."""
    while True:
        word = _syllables(rng.randint(2, 3), rng)
        if word not in _THINGS:
            return word


_WORDS = {**words("unknown"), "country": _COUNTRIES}
_MADE: dict[str, Callable[[random.Random], str]] = {
    "fake": _no_country,
    "gibberish": _no_word,
    "n": lambda rng: str(rng.randint(2, 999)),
    "big": lambda rng: str(rng.randint(10_000, 999_999)),
    "year": lambda rng: str(rng.randint(1000, 2030)),
}


def _value(slot: str, rng: random.Random) -> str:
    kind = slot.rstrip("0123456789")
    return _MADE[kind](rng) if kind in _MADE else rng.choice(_WORDS[kind])


def _slots(said: Phrases) -> list[str]:
    """The slots that the templates of a kind use, in a fixed order."""
    texts = [text for form in fields(said) for text in getattr(said, form.name)]
    return sorted({slot for text in texts for slot in slot_names(text)})


def _draw(reply: str, slots: list[str]) -> Callable[[random.Random], Case]:
    def draw(rng: random.Random) -> Case:
        return Case({slot: _value(slot, rng) for slot in slots}, REPLIES[reply], _KEY, _SHORT[reply])

    return draw


def _intents() -> tuple[Intent, ...]:
    table, said = rows("facts/unknown"), phrases("unknown")
    total = sum(float(row["weight"]) for row in table)
    return tuple(
        Intent(
            f"unknown_{row['name']}",
            said[row["name"]],
            _draw(row["reply"], _slots(said[row["name"]])),
            weight=_SHARE * float(row["weight"]) / total,
            group="unknown",
        )
        for row in table
    )


INTENTS: tuple[Intent, ...] = _intents()
