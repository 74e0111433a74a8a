"""How-tos, small talk, recommendations and the honest fallback: complete, consistent, and apart from each other."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import fields

import pytest

from predtui.lab.training.corpus.grammar import expand, slot_names
from predtui.lab.training.corpus.intents import howto, recommend, smalltalk, unknown
from predtui.lab.training.corpus.phrasing import draw, filled
from predtui.lab.training.corpus.read import keys, rows
from predtui.lab.training.corpus.text import holds, sentences
from predtui.lab.training.corpus.types import Case, Intent

INTENTS = (*howto.INTENTS, *recommend.INTENTS, *smalltalk.INTENTS, *unknown.INTENTS)
FIXED = (*howto.INTENTS, *recommend.INTENTS, *smalltalk.INTENTS)


def templates(intent: Intent) -> list[str]:
    return [text for form in fields(intent.phrases) for text in getattr(intent.phrases, form.name)]


def cases(intent: Intent, draws: int = 1500) -> list[Case]:
    rng = random.Random(7)
    distinct = {tuple(sorted(case.slots.items())): case for case in (intent.draw(rng) for _ in range(draws))}
    return list(distinct.values())


def test_there_is_enough_of_everything() -> None:
    assert len(rows("facts/howto")) >= 110
    assert len(rows("facts/recommend")) >= 40
    assert len(rows("facts/jokes")) >= 30
    assert len(rows("facts/feelings")) >= 15
    assert len(templates(howto.INTENTS[0])) >= 30
    assert len(templates(recommend.INTENTS[0])) >= 25
    spoken = Counter(row["name"] for row in rows("wordings/smalltalk"))
    assert spoken.keys() == {row["name"] for row in rows("facts/smalltalk")}
    assert min(spoken.values()) >= 4


def test_intents_have_names_of_their_own() -> None:
    names = Counter(intent.name for intent in INTENTS)
    assert max(names.values()) == 1


@pytest.mark.parametrize("intent", INTENTS, ids=lambda intent: intent.name)
def test_every_template_can_be_said_for_every_case(intent: Intent) -> None:
    rng = random.Random(3)
    assert intent.weight > 0
    for case in cases(intent, 40):
        for text in templates(intent):
            said = expand(text, case.slots, rng)
            assert said.isascii()
            assert said == said.strip()
            assert not set("<>{}[]|") & set(said), said


@pytest.mark.parametrize("intent", FIXED, ids=lambda intent: intent.name)
def test_replies_hold_their_keys_and_are_one_to_four_sentences(intent: Intent) -> None:
    for case in cases(intent):
        assert case.reply.isascii()
        assert case.reply[-1] in ".!?"
        assert 1 <= len(sentences(case.reply)) <= 4
        assert case.key
        assert all(holds(case.reply, key) for key in case.key), (case.reply, case.key)


def test_howtos_restate_the_task_and_stay_short() -> None:
    for row in rows("facts/howto"):
        task = row["task"].replace(" my ", " your ")
        assert row["reply"].startswith(f"To {task}"), row["task"]
        assert 20 <= len(row["reply"].split()) <= 42, row["task"]
        assert len(sentences(row["short"])) == 1
        assert len(row["short"].split()) < len(row["reply"].split())


@pytest.mark.parametrize(
    ("table", "column"), [("facts/howto", "task"), ("facts/recommend", "topic"), ("facts/jokes", "topic")]
)
def test_each_topic_stands_once(table: str, column: str) -> None:
    assert max(Counter(row[column] for row in rows(table)).values()) == 1


def test_no_wording_is_shared_by_two_kinds_of_small_talk() -> None:
    owners: dict[str, str] = {}
    rng = random.Random(0)
    for intent in smalltalk.INTENTS:
        for text in templates(intent):
            if slot_names(text):
                continue
            for said in {expand(text, {}, rng) for _ in range(30)}:
                assert owners.setdefault(said.lower(), intent.name) == intent.name, said


def test_a_feeling_is_named_once() -> None:
    names = Counter(name for row in rows("facts/feelings") for name in row["feelings"].split("|"))
    assert max(names.values()) == 1


def test_the_fallback_has_two_replies_and_names_what_it_can_do() -> None:
    rng = random.Random(5)
    replies = {intent.draw(rng).reply for intent in unknown.INTENTS}
    assert replies == set(unknown.REPLIES.values())
    assert len(replies) == 2
    for intent in unknown.INTENTS:
        case = intent.draw(rng)
        assert "countries" in case.reply
        assert all(holds(case.reply, key) for key in case.key)


def test_out_of_scope_prompts_hardly_repeat() -> None:
    rng = random.Random(11)
    weights = [intent.weight for intent in unknown.INTENTS]
    said = set()
    for intent in rng.choices(unknown.INTENTS, weights, k=10_000):
        case, asked = draw(intent, "train", rng)
        said.add((intent.name, expand(asked.template.text, case.slots, rng)))
        assert "<" not in filled(asked, case)
    assert len(said) >= 5_000


def test_what_is_known_is_not_called_unknown() -> None:
    words = {slot: {row["word"].lower() for row in rows("words/unknown") if row["list"] == slot} for slot in (
        "concept", "object", "hard", "goods", "region", "fiction", "city",
    )}  # fmt: skip
    things = {row[column].lower() for row in rows("facts/things") for column in ("name", "form")}
    countries = {row["name"].lower() for row in rows("facts/countries")}
    assert not (words["concept"] | words["object"]) & things
    assert not words["hard"] & {also.partition("=")[0] for row in rows("facts/howto") for also in keys(row["also"])}
    assert not words["hard"] & {row["task"] for row in rows("facts/howto")}
    assert not words["hard"] & {f"make {thing}" for thing in things}
    assert not words["goods"] & {row["topic"].lower() for row in rows("facts/recommend")}
    assert not (words["region"] | words["fiction"] | words["city"]) & countries


def test_numbered_slots_are_drawn_from_the_same_list() -> None:
    comparing = next(intent for intent in unknown.INTENTS if intent.name == "unknown_country")
    drawn = [comparing.draw(random.Random(seed)).slots for seed in range(20)]
    countries = {row["name"] for row in rows("facts/countries")}
    assert all({slots["country"], slots["country2"]} <= countries for slots in drawn)
    assert any(slots["country"] != slots["country2"] for slots in drawn)
