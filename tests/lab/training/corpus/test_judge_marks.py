"""Where a judged answer parts from its question, in words and in tokens."""

from __future__ import annotations

import random

from predtui.lab.training.corpus import compose, judge
from predtui.lab.training.corpus.text import cut
from predtui.lab.training.corpus.types import Example
from predtui.lab.training.pocket.data import encode
from predtui.lab.training.pocket.tokenizer import corpus_texts, train_tokenizer


def judgements(count: int) -> list[Example]:
    rng = random.Random(11)
    return [judge.judgement(compose.any_intent, "train", rng) for _ in range(count)]


def answer_of(example: Example) -> str:
    return example.messages[1].content


def test_an_answer_parts_from_its_question_exactly_where_the_label_is_no() -> None:
    for example in judgements(1500):
        answer = answer_of(example)
        if example.messages[3].content == "yes":
            assert example.fitting is None
        else:
            assert example.fitting is not None
            assert 0 <= example.fitting < len(answer.split(" ")), (answer, example.fitting)


def test_the_shape_of_a_judgement_does_not_tell_its_label() -> None:
    drawn = judgements(4000)
    lengths = {
        label: [len(answer_of(e).split()) for e in drawn if e.messages[3].content == label] for label in ("yes", "no")
    }
    yes, no = (sum(found) / len(found) for found in lengths.values())
    assert 0.9 < yes / no < 1.1
    marks = {
        label: [e.messages[0].content[-1] in "?." for e in drawn if e.messages[3].content == label]
        for label in ("yes", "no")
    }
    yes, no = (sum(found) / len(found) for found in marks.values())
    assert 0.85 < yes / no < 1.15


def test_every_word_of_a_judged_answer_has_one_token_that_says_whether_it_fits_so_far() -> None:
    tokenizer = train_tokenizer(corpus_texts(lambda rng: compose.sample(rng), 300, 0), 600)
    for example in judgements(300):
        row = encode(tokenizer, example, 10.0)
        words = answer_of(example).split(" ")
        if not row.fits:
            continue
        assert len(row.fits) == len(words)
        fitting = len(words) if example.fitting is None else example.fitting
        assert list(row.fits.values()) == [True] * fitting + [False] * (len(words) - fitting)
        for number, place in enumerate(row.fits, 1):
            assert tokenizer.decode(row.ids[: place + 1]).endswith(cut(answer_of(example), number))
