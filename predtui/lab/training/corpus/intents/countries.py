"""Questions about the countries of the world: capital, continent, currency, languages.

The user names a country in any common form ("the states"); the reply uses the table's name ("the United States").
Knows the table ``countries`` and nothing of openers, styles or splits.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache

from predtui.lab.training.corpus.read import Row, phrases, rows
from predtui.lab.training.corpus.text import capitalised
from predtui.lab.training.corpus.types import Case, Intent


@cache
def user_forms(name: str, aliases: str) -> tuple[str, ...]:
    """What a user may call a country: its name twice as often as all else, then each of the ``|``-separated aliases."""
    others = tuple(alias for alias in aliases.split("|") if alias)
    return (name,) * (2 * len(others) or 1) + others


def _slots(row: Row, rng: random.Random) -> dict[str, str]:
    """``country`` as in a sentence ("the Netherlands"), ``place`` as a bare keyword ("Netherlands"), ``adjective``."""
    form = rng.choice(user_forms(row["name"], row["aliases"]))
    return {"country": form, "place": form.removeprefix("the "), "adjective": row["adjective"]}


def _people(row: Row) -> str:
    return f"People there speak {row['languages']}, and they pay with {row['currency']}."


def _region(row: Row) -> str:
    return f"The country lies in {row['continent']}."


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _capital(row: Row, index: int) -> tuple[str, tuple[str, ...], str]:
    more = row["note"] or ("", _region(row), _people(row))[index % 3]
    reply = _joined(f"The capital of {row['name']} is {row['capital']}.", more)
    return reply, (row["capital"],), f"It is {row['capital']}."


def _capital_of(row: Row, index: int) -> tuple[str, tuple[str, ...], str]:
    reply = _joined(f"{row['capital']} is the capital of {row['name']}.", _region(row) if index % 2 else "")
    return reply, (row["name"],), f"It is {row['name']}."


def _continent(row: Row, index: int) -> tuple[str, tuple[str, ...], str]:
    reply = _joined(
        f"{capitalised(row['name'])} is a country in {row['continent']}.",
        f"Its capital is {row['capital']}." if index % 3 == 1 else "",
    )
    return reply, tuple(row["continent"].split(" and ")), f"It is in {row['continent']}."


def _currency(row: Row, index: int) -> tuple[str, tuple[str, ...], str]:
    reply = _joined(f"The currency of {row['name']} is {row['currency']}.", _region(row) if index % 4 == 1 else "")
    return reply, (row["currency"].removeprefix("the "),), f"It is {row['currency']}."


def _language(row: Row, index: int) -> tuple[str, tuple[str, ...], str]:
    languages = tuple(row["languages"].split(" and "))
    verb, short = ("languages of", "They are") if len(languages) > 1 else ("language of", "It is")
    first = f"The main {verb} {row['name']} {'are' if len(languages) > 1 else 'is'} {row['languages']}."
    reply = _joined(first, _region(row) if index % 4 == 2 else "")
    return reply, languages, f"{short} {row['languages']}."


def _about(row: Row, index: int) -> tuple[str, tuple[str, ...], str]:
    first = f"{capitalised(row['name'])} is a country in {row['continent']}, and its capital is {row['capital']}."
    return _joined(first, _people(row)), (row["capital"], *row["continent"].split(" and ")), ""


def _draw(answer: Callable[[Row, int], tuple[str, tuple[str, ...], str]]) -> Callable[[random.Random], Case]:
    """A draw over all countries; ``answer`` gives (reply, key, short) of a row and its number in the table."""

    def draw(rng: random.Random) -> Case:
        table = rows("facts/countries")
        index = rng.randrange(len(table))
        reply, key, short = answer(table[index], index)
        return Case(_slots(table[index], rng), reply, key, short, _about(table[index], index)[0])

    return draw


def _draw_capital_of(rng: random.Random) -> Case:
    table = rows("facts/countries")
    index = rng.randrange(len(table))
    reply, key, short = _capital_of(table[index], index)
    return Case({"city": table[index]["capital"]}, reply, key, short, _about(table[index], index)[0])


_ASKED = phrases("countries")
INTENTS: tuple[Intent, ...] = (
    Intent("capital", _ASKED["capital"], _draw(_capital), weight=2.0, group="countries"),
    Intent("capital_of", _ASKED["capital_of"], _draw_capital_of, weight=1.5, group="countries"),
    Intent("continent", _ASKED["continent"], _draw(_continent), weight=1.2, group="countries"),
    Intent("currency", _ASKED["currency"], _draw(_currency), weight=1.6, group="countries"),
    Intent("language", _ASKED["language"], _draw(_language), weight=1.6, group="countries"),
    Intent("country_about", _ASKED["country_about"], _draw(_about), weight=1.2, group="countries"),
)
