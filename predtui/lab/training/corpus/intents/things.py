"""Questions about everyday things: what they are, and the one property that people ask of each kind.

Knows the table ``things``, whose ``attributes`` column holds ``name=value`` pairs separated by ``|``,
and nothing of openers, styles or splits.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from predtui.lab.training.corpus.read import phrases, rows
from predtui.lab.training.corpus.text import capitalised
from predtui.lab.training.corpus.types import Case, Intent

_ARTICLES = ("a ", "an ", "the ")
_SIBILANT = ("s", "x", "z", "ch", "sh")


@dataclass(frozen=True, slots=True)
class Thing:
    """One row of the table: ``form`` is its name with the article it takes in a sentence ("an owl", "gold")."""

    name: str
    form: str
    definition: str
    fact: str
    attributes: dict[str, str]

    @property
    def the_form(self) -> str:
        """The thing as a kind: "the telephone" for "a telephone", "dynamite" for "dynamite"."""
        article, _, noun = self.form.partition(" ")
        return f"the {noun}" if article in ("a", "an") else self.form


@cache
def things() -> tuple[Thing, ...]:
    """All things of the table, in its order."""
    return tuple(
        Thing(row["name"], row["form"], row["definition"], row["fact"], _attributes(row["attributes"]))
        for row in rows("facts/things")
    )


def _attributes(cell: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in cell.split("|") if pair)


@cache
def _having(attribute: str) -> tuple[Thing, ...]:
    return tuple(thing for thing in things() if not attribute or attribute in thing.attributes)


def plural(name: str) -> str:
    """The regular plural of an English noun ("fox" gives "foxes"); irregular ones stand in the table."""
    if name.endswith(_SIBILANT):
        return f"{name}es"
    if name.endswith("y") and name[-2] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}s"


def _slots(thing: Thing, rng: random.Random) -> dict[str, str]:
    """The user's words for a thing: its name, or in a third of the draws the alias of the table."""
    name, form, the_form = _without_article(thing.form), thing.form, thing.the_form
    if "alias" in thing.attributes and rng.random() < 1 / 3:
        alias = thing.attributes["alias"]
        article = form.removesuffix(name)
        if article in ("a ", "an "):
            article = "an " if alias[0] in "aeiou" else "a "
        name = _without_article(alias)
        form = alias if alias != name else f"{article}{alias}"
        the_form = f"the {name}" if thing.the_form.startswith("the ") else form
    many = thing.attributes.get("plural", plural(name))
    return {"thing": form, "name": name, "things": many, "the_thing": the_form}


def _without_article(form: str) -> str:
    for article in _ARTICLES:
        form = form.removeprefix(article)
    return form


def _draw(attribute: str, answer: Callable[[Thing, str], Case]) -> Callable[[random.Random], Case]:
    """A draw over the things that have ``attribute`` (all of them for ""), answered by ``answer(thing, value)``."""

    def draw(rng: random.Random) -> Case:
        thing = rng.choice(_having(attribute))
        case = answer(thing, thing.attributes.get(attribute, ""))
        return Case(_slots(thing, rng), case.reply, case.key, case.short)

    return draw


def _said(reply: str, key: str, short: str = "") -> Case:
    """An answer whose slots are still to be drawn."""
    return Case({}, reply, (key,), short)


def _what(thing: Thing, _: str) -> Case:
    return _said(f"{thing.definition} {thing.fact}", thing.definition.rstrip("."))


def _eats(thing: Thing, food: str) -> Case:
    return _said(f"{capitalised(thing.form)} eats {food}.", food, f"It eats {food}.")


def _home(thing: Thing, place: str) -> Case:
    return _said(f"{capitalised(thing.form)} lives {place}.", place, f"It lives {place}.")


def _sound(thing: Thing, sound: str) -> Case:
    return _said(f"The sound of {thing.form} is called {sound}.", sound, f"It is called {sound}.")


def _young(thing: Thing, young: str) -> Case:
    return _said(f"The young of {thing.form} is called {young}.", young, f"It is {young}.")


def _symbol(thing: Thing, symbol: str) -> Case:
    return _said(f"The chemical symbol for {thing.name} is {symbol}.", f"is {symbol}", f"It is {symbol}.")


def _order(thing: Thing, order: str) -> Case:
    return _said(f"{thing.name} is the {order} planet from the sun.", order, f"It is the {order}.")


def _family(thing: Thing, family: str) -> Case:
    reply = f"{capitalised(thing.the_form)} belongs to the {family} family of instruments."
    return _said(reply, family, f"It is a {family} instrument.")


def _made(thing: Thing, stuff: str) -> Case:
    return _said(f"{capitalised(thing.form)} is made from {stuff}.", stuff, f"It is made from {stuff}.")


def _origin(thing: Thing, place: str) -> Case:
    return _said(f"{capitalised(thing.the_form)} first came from {place}.", place, f"It came from {place}.")


def _inventor(thing: Thing, inventor: str) -> Case:
    reply = f"{capitalised(thing.the_form)} was invented by {inventor} {thing.attributes['year']}."
    return _said(reply, inventor, f"It was {inventor}.")


def _year(thing: Thing, year: str) -> Case:
    reply = f"{capitalised(thing.the_form)} was invented {year} by {thing.attributes['inventor']}."
    return _said(reply, year, f"It was {year}.")


def _intent(name: str, attribute: str, answer: Callable[[Thing, str], Case], weight: float) -> Intent:
    return Intent(name, _ASKED[name], _draw(attribute, answer), weight, "things")


_ASKED = phrases("things")
INTENTS: tuple[Intent, ...] = (
    _intent("thing_what", "", _what, 3.0),
    _intent("animal_eats", "eats", _eats, 0.6),
    _intent("animal_home", "home", _home, 0.6),
    _intent("animal_sound", "sound", _sound, 0.4),
    _intent("animal_young", "young", _young, 0.6),
    _intent("element_symbol", "symbol", _symbol, 0.4),
    _intent("planet_order", "order", _order, 0.3),
    _intent("instrument_family", "family", _family, 0.4),
    _intent("food_made", "made", _made, 0.5),
    _intent("food_origin", "origin", _origin, 0.4),
    _intent("invention_who", "inventor", _inventor, 0.5),
    _intent("invention_when", "year", _year, 0.5),
)
