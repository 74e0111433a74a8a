"""The oracle accepts every right reply and refuses wrong, contradictory and broken ones."""

from __future__ import annotations

import random

import pytest

from predtui.lab.training.corpus import compose
from predtui.lab.training.corpus.intents.arithmetic import add
from predtui.lab.training.corpus.intents.calendar import days_from
from predtui.lab.training.corpus.oracle import right
from predtui.lab.training.corpus.text import holds, sentences
from predtui.lab.training.corpus.types import Case, Example
from predtui.state.events import Message


def example(case: Case, prompt: str = "?") -> Example:
    said = (Message("user", prompt), Message("assistant", case.reply))
    return Example(said, "test", "train", key=case.key, slots=case.slots, also=case.also)


CAPITAL = example(Case({"country": "France"}, "The capital of France is Paris.", ("Paris",)))
ALSO = example(Case({"country": "France"}, "The capital of France is Paris.", ("Paris",), also="It lies in Europe."))
HALVES = example(Case({"number": "8"}, "Half of 8 is 4.", ("4",)))
SUM = example(add(47, 38))
DAY = example(days_from(0, 10, later=True))
JOKE = example(Case({}, "Why not? Because."))


def test_every_reply_of_the_corpus_is_right() -> None:
    rng = random.Random(1)
    drawn = [compose.sample(rng) for _ in range(3000)]
    drawn += compose.heldout("slots", 500, 1) + compose.heldout("frames", 500, 1) + compose.judgements(200, 1)
    assert [e for e in drawn if not right(e, e.messages[-1].content)] == []


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        (CAPITAL, "Paris is the capital of France."),
        (CAPITAL, "the capital of France is Paris!"),
        (ALSO, "France lies in Europe, and its capital is Paris."),
        (HALVES, "Half of 8 is 4.0."),
        (SUM, "47 plus 38 is 85."),
        (DAY, "10 days after Monday is Thursday."),
        (JOKE, "Why not?  Because. "),
    ],
)
def test_other_words_for_the_same_fact_are_right(asked: Example, reply: str) -> None:
    assert right(asked, reply)


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        (CAPITAL, "The capital of France is London."),
        (CAPITAL, "The capital of France is Paris"),
        (ALSO, "France lies in Asia, and its capital is Paris."),
        (ALSO, "France lies in Europe."),
        (HALVES, "Half of 8 is 4.05."),
        (CAPITAL, "The capital of Spain is Paris."),
        (CAPITAL, "The capital is Paris."),
        (CAPITAL, "The capital of France is Parish."),
        (CAPITAL, "The capital of France is Paris or Rome."),
        (CAPITAL, "France. France. France. France. The capital of France is Paris."),
        (CAPITAL, ""),
        (SUM, "47 plus 38 is 70 plus 15, which makes 86."),
        (SUM, "47 plus 38 is 85, no, 70."),
        (SUM, "47 plus 38 is 185."),
        (SUM, "47 plus 38 is 80 plus 5, which makes 85."),
        (DAY, "10 days after Monday is Thursday or Friday."),
        (JOKE, "Why not?"),
    ],
)
def test_wrong_replies_are_refused(asked: Example, reply: str) -> None:
    assert not right(asked, reply)


def test_a_judgement_is_right_only_to_the_letter() -> None:
    judged = compose.judgements(1, 4)[0]
    answer = judged.messages[-1].content
    other = {"yes": "no", "no": "yes"}[answer]
    assert right(judged, answer)
    assert not any(right(judged, reply) for reply in (other, answer.title(), f"{answer}, it fits", ""))


def test_sentences_do_not_end_in_decimals_and_abbreviations() -> None:
    assert sentences("Mt. Everest is 8.8 km high. It is in Asia! Is St. John's?") == [
        "Mt. Everest is 8.8 km high.",
        "It is in Asia!",
        "Is St. John's?",
    ]


def test_a_number_is_held_only_whole() -> None:
    assert holds("it is 85.", "85")
    assert not holds("it is 8.5", "8")
    assert not holds("it is 185", "85")
    assert holds("It is 4:15 pm.", "4:15 PM")
