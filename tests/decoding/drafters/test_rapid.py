"""What matters of a long prompt stays, and replies are those of plain decoding with all of it."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.assembly import make_decoder
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.drafters.rapid import HEAD, KEPT, PASSAGE, QUESTION, bm25, shortened, terms
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.llm.load import load

samplers = st.just(Greedy()) | st.builds(Seeded, temperature=st.floats(0.3, 2.0), seed=st.integers(0, 99))


def no_end(token: int) -> bool:
    return False


@given(st.lists(st.integers(0, 40), max_size=3000), st.integers(HEAD + QUESTION, KEPT))
def test_what_is_left_is_in_order_and_short_enough_and_has_both_ends(prompt: list[int], kept: int) -> None:
    numbered = [token * 10_000 + place for place, token in enumerate(prompt)]
    left = shortened(numbered, kept)
    assert len(left) <= max(kept, 0)
    assert all(a % 10_000 < b % 10_000 for a, b in pairwise(left))
    assert left[-QUESTION:] == numbered[-QUESTION:]
    assert left[:HEAD] == numbered[:HEAD]


@given(st.integers(0, 99), st.integers(0, 40))
def test_the_passage_that_the_question_is_about_stays(seed: int, where: int) -> None:
    rng = random.Random(seed)
    prompt = [rng.randrange(100, 900) for _ in range(HEAD + 41 * PASSAGE + QUESTION)]
    start = HEAD + where * PASSAGE + 10
    needle = list(range(1000, 1012))
    prompt[start : start + len(needle)] = needle
    prompt[-20 : -20 + 6] = needle[:6]
    assert set(needle) <= set(shortened(prompt))


@given(st.lists(st.lists(st.integers(0, 9), max_size=9), min_size=1, max_size=9), st.integers(0, 9))
def test_only_what_has_something_of_what_is_asked_has_a_score(passages: list[list[int]], asked: int) -> None:
    scores = bm25([terms(passage) for passage in passages], {asked})
    assert [score > 0 for score in scores] == [asked in passage for passage in passages]


@given(st.integers(0, 999), samplers)
@settings(max_examples=15, deadline=None)
def test_equals_plain_decoding_with_the_long_context(seed: int, sampler: Sampler) -> None:
    target, draft = load("1", "scripted", context=3000), load("1", "scripted", context=KEPT + 200)
    prompt = random.Random(seed).choices(range(4, target.model.vocab_size), k=2000)
    decoder = make_decoder("speculative", Parts(target, sampler, draft), "rapid")
    plain = list(generate(target.model, prompt, sampler, 40, no_end))
    assert list(decoder.generate(prompt, 40, no_end)) == plain
    assert draft.model.counters.tokens < 2000


@pytest.mark.parametrize("long", [False, True])
def test_a_draft_model_with_a_short_context_drafts_for_a_long_one(long: bool) -> None:
    target, draft = load("1", "scripted", context=3000), load("1", "scripted", context=KEPT + 100)
    prompt = random.Random(3).choices(range(4, target.model.vocab_size), k=2000 if long else 100)
    decoder = make_decoder("speculative", Parts(target, Greedy(), draft), "rapid")
    list(decoder.generate(prompt, 40, no_end))
    assert decoder.statistics.proposed
