"""What the pocket model does not know, and says so: live data, people, history, commands, chatter, noise.

The tables ``unknown`` and ``unknown_wordings`` hold the kinds of prompt, ``unknown_words`` what their slots are filled
with; names of places that do not exist and noise are made up here. A slot with a number behind its name (``<n2>``)
is another value of the same list. Knows nothing of openers, styles or splits.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from dataclasses import fields

from predtui.lab.training.corpus.grammar import slot_names
from predtui.lab.training.corpus.read import rows
from predtui.lab.training.corpus.tabled import phrases
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

_ONSETS = (
    "b", "br", "d", "dr", "f", "fl", "g", "gl", "gr", "h", "j", "k", "kl", "l", "m", "n", "p", "pl", "r", "s", "sk",
    "st", "t", "tr", "v", "z",
)  # fmt: skip
_VOWELS = ("a", "e", "i", "o", "u", "oo", "ee", "ai")
_CODAS = ("", "", "", "l", "n", "r", "s", "t", "x", "mp", "nk")
_ENDINGS = ("ia", "land", "stan", "ania", "ora", "enia", "esh", "onia", "and", "istan", "avia")
_COUNTRIES = tuple(row["name"] for row in rows("countries"))
_REAL = frozenset(name.lower() for row in rows("countries") for name in (row["name"], *row["aliases"].split("|")))
_THINGS = frozenset(row["name"].lower() for row in rows("things"))


def _syllables(count: int, rng: random.Random) -> str:
    return "".join(rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(count))


def _no_country(rng: random.Random) -> str:
    """A name that sounds like a country and is none."""
    while True:
        name = (_syllables(rng.randint(1, 2), rng) + rng.choice(_ENDINGS)).capitalize()
        if name.lower() not in _REAL:
            return name


def _no_word(rng: random.Random) -> str:
    """A word that sounds like one and names nothing that the model knows."""
    while True:
        word = _syllables(rng.randint(2, 3), rng)
        if word not in _THINGS:
            return word


def _words() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows("unknown_words"):
        found[row["slot"]].append(row["word"])
    return {slot: tuple(words) for slot, words in found.items()}


_WORDS = {**_words(), "country": _COUNTRIES}
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
    table, said = rows("unknown"), phrases("unknown_wordings")
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
