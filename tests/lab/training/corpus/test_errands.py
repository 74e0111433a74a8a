"""Timers, reminders, lists and copies: what was asked for is quoted word by word, invented words included."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.lab.training.corpus.copying import copied
from predtui.lab.training.corpus.intents.assistant import INTENTS
from predtui.lab.training.corpus.intents.errands import task, thing, word
from predtui.lab.training.corpus.oracle import right
from predtui.lab.training.corpus.read import words
from predtui.lab.training.corpus.text import holds

SEEDS = st.integers(0, 2**32)
LISTS = words("errands")
KNOWN = {one for entries in LISTS.values() for entry in entries for one in entry.split()}


@settings(deadline=None)
@given(SEEDS, st.sampled_from(INTENTS))
def test_a_reply_quotes_every_slot(seed: int, intent: object) -> None:
    case = intent.draw(random.Random(seed))  # type: ignore[attr-defined]
    assert all(holds(case.reply, value) for value in case.slots.values())
    assert all(holds(case.reply, key) for key in case.key)
    assert case.reply.startswith("Okay, I ")


@settings(deadline=None)
@given(SEEDS)
def test_what_is_copied_is_what_was_asked_for(seed: int) -> None:
    example = copied(random.Random(seed))
    request, reply = (message.content for message in example.messages)
    assert request.startswith("copy")
    assert request.endswith(f" {reply}")
    assert 3 <= len(reply.split()) <= 14
    assert right(example, reply)


def test_words_are_known_or_made_of_syllables() -> None:
    rng = random.Random(0)
    drawn = [word(rng) for _ in range(2000)]
    invented = [one for one in drawn if one not in KNOWN]
    assert 0.15 < len(invented) / len(drawn) < 0.3
    assert all(one.startswith(LISTS["onset"]) for one in invented)


def test_errands_hardly_repeat() -> None:
    rng = random.Random(1)
    assert len({thing(rng) for _ in range(1000)}) > 600
    assert len({task(rng) for _ in range(1000)}) > 600
