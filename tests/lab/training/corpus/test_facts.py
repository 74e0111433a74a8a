"""The fact tables are complete and unique, and the intents that use them ask and answer soundly."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import fields

import pytest

from predtui.lab.training.corpus.grammar import expand, slot_names
from predtui.lab.training.corpus.intents import countries, things
from predtui.lab.training.corpus.read import rows
from predtui.lab.training.corpus.text import holds, sentences, words
from predtui.lab.training.corpus.types import Case, Intent, Phrases

_INTENTS = (*countries.INTENTS, *things.INTENTS)
_CONTINENTS = {"Africa", "Asia", "Europe", "North America", "South America", "Oceania"}
_DRAWS = 400

intents = pytest.mark.parametrize("intent", _INTENTS, ids=lambda intent: str(intent.name))


def _templates(phrases: Phrases, followups: bool = True) -> list[str]:
    forms = (field.name for field in fields(phrases) if followups or field.name != "followup")
    return [template for form in forms for template in getattr(phrases, form)]


def _cases(intent: Intent) -> list[Case]:
    rng = random.Random(intent.name)
    return [intent.draw(rng) for _ in range(_DRAWS)]


def _ask(intents: tuple[Intent, ...], name: str, wanted: Callable[[Case], bool]) -> Case:
    """A case of the named intent, the first drawn that is ``wanted``."""
    intent = next(intent for intent in intents if intent.name == name)
    rng = random.Random(7)
    return next(case for case in (intent.draw(rng) for _ in range(20_000)) if wanted(case))


def test_countries_are_complete_and_unique() -> None:
    table = rows("facts/countries")
    assert len(table) >= 190
    for row in table:
        assert all(row[column] for column in row if column not in ("aliases", "note")), row
        assert set(row["continent"].split(" and ")) <= _CONTINENTS, row
        assert row["currency"].startswith("the "), row
        assert len(row["languages"].split(" and ")) <= 2, row
    for column in ("name", "capital", "adjective"):
        assert len({row[column].lower() for row in table}) == len(table), column
    named = [form.lower() for row in table for form in {*countries.user_forms(row["name"], row["aliases"])}]
    assert len(named) == len(set(named)), "two countries share a form"


def test_things_are_complete_and_unique() -> None:
    table = things.things()
    assert len(table) >= 240
    assert len({thing.name.lower() for thing in table}) == len(table)
    for thing in table:
        assert thing.form.endswith(thing.name), thing
        for sentence in (thing.definition, thing.fact):
            assert len(sentences(sentence)) == 1, sentence
            assert sentence.endswith("."), sentence
            assert 5 <= len(words(sentence)) <= 18, sentence
        assert thing.definition.lower().startswith(thing.form.lower() + " "), thing
        assert ("inventor" in thing.attributes) == ("year" in thing.attributes), thing


def test_things_use_only_attributes_that_are_asked_or_shape_the_question() -> None:
    known = {"eats", "home", "sound", "young", "symbol", "order", "family", "made", "origin", "inventor", "year"}
    for thing in things.things():
        assert set(thing.attributes) <= known | {"alias", "plural"}, thing


@pytest.mark.parametrize("name", ["facts/countries", "facts/things"])
def test_tables_are_plain_ascii(name: str) -> None:
    assert all(value.isascii() and value == value.strip() for row in rows(name) for value in row.values())


@intents
def test_every_intent_is_worded_in_many_ways(intent: Intent) -> None:
    templates = _templates(intent.phrases, followups=False)
    assert len(templates) >= 25
    assert len(intent.phrases.followup) >= 4
    for field in fields(intent.phrases):
        forms = getattr(intent.phrases, field.name)
        assert len(forms) == len(set(forms)), field.name


@intents
def test_every_template_can_be_filled_from_every_case(intent: Intent) -> None:
    rng = random.Random(3)
    wanted = {template: slot_names(template) for template in _templates(intent.phrases)}
    for case in _cases(intent):
        for template, slots in wanted.items():
            assert slots, template
            assert slots <= set(case.slots), template
    case = intent.draw(rng)
    for template in wanted:
        assert not re.search(r"[<>{}\[\]|]", expand(template, case.slots, rng)), template


@intents
def test_replies_are_short_plain_and_hold_their_keys(intent: Intent) -> None:
    for case in _cases(intent):
        assert case.reply.isascii(), case
        assert case.reply[0].isupper(), case
        assert case.reply.endswith("."), case
        assert 1 <= len(sentences(case.reply)) <= 4, case
        assert case.key, case
        assert all(holds(case.reply, key) for key in case.key), case
        if case.short:
            assert len(case.short) < len(case.reply), case
            assert len(sentences(case.short)) == 1, case
            assert all(holds(case.short, key) for key in case.key), case


@intents
def test_the_reply_depends_on_nothing_but_the_thing_asked(intent: Intent) -> None:
    slot = next(iter(_cases(intent)[0].slots))
    by_slot: dict[str, set[str]] = {}
    for case in _cases(intent):
        by_slot.setdefault(case.slots[slot], set()).add(case.reply)
    assert all(len(found) == 1 for found in by_slot.values())
    assert len(by_slot) > 5


@pytest.mark.parametrize(
    ("name", "country", "reply"),
    [
        ("capital", "the USA", "The capital of the United States is Washington DC."),
        ("capital", "Holland", "The capital of the Netherlands is Amsterdam. The government sits in The Hague."),
        ("continent", "Brazil", "Brazil is a country in South America."),
        ("currency", "Japan", "The currency of Japan is the yen."),
        ("language", "Canada", "The main languages of Canada are English and French."),
        ("country_about", "France", "France is a country in Europe, and its capital is Paris."),
    ],
)
def test_a_country_is_understood_by_any_name_and_answered_by_its_own(name: str, country: str, reply: str) -> None:
    case = _ask(countries.INTENTS, name, lambda case: case.slots["country"] == country)
    assert case.reply.startswith(reply)


def test_a_capital_names_its_country() -> None:
    case = _ask(countries.INTENTS, "capital_of", lambda case: case.slots["city"] == "Ottawa")
    assert case.reply.startswith("Ottawa is the capital of Canada.")
    assert case.short == "It is Canada."


@pytest.mark.parametrize(
    ("name", "thing", "reply"),
    [
        ("animal_young", "an owl", "The young of an owl is called an owlet."),
        ("animal_eats", "a hippo", "A hippopotamus eats mostly grass."),
        ("element_symbol", "gold", "The chemical symbol for gold is Au."),
        ("planet_order", "Mars", "Mars is the fourth planet from the sun."),
        ("instrument_family", "a French horn", "The French horn belongs to the brass family of instruments."),
        ("food_origin", "a potato", "The potato first came from the Andes of South America."),
        ("invention_who", "a phone", "The telephone was invented by Alexander Graham Bell in 1876."),
        ("invention_when", "the web", "The World Wide Web was invented in 1989 by Tim Berners-Lee."),
    ],
)
def test_a_property_is_told_of_the_thing_asked(name: str, thing: str, reply: str) -> None:
    assert _ask(things.INTENTS, name, lambda case: case.slots["thing"] == thing).reply == reply


@pytest.mark.parametrize(
    ("thing", "slots"),
    [
        ("a mouse", {"name": "mouse", "things": "mice", "the_thing": "the mouse"}),
        ("a butterfly", {"name": "butterfly", "things": "butterflies", "the_thing": "the butterfly"}),
        ("an automobile", {"name": "automobile", "things": "automobiles", "the_thing": "the automobile"}),
        ("the earth", {"name": "earth"}),
    ],
)
def test_a_thing_is_named_in_the_number_and_article_that_the_question_needs(thing: str, slots: dict[str, str]) -> None:
    case = _ask(things.INTENTS, "thing_what", lambda case: case.slots["thing"] == thing)
    assert slots.items() <= dict(case.slots).items()
