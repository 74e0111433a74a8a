"""Passages for prompts: BM25, the cache that guesses them, and the whole index that verifies these guesses."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.predgen.notes.index import Index, query
from predtui.predgen.notes.passages import Passage
from predtui.predgen.notes.retrieval import COUNT, STRIDE, Retriever

WORDS = ["carrot", "flight", "garden", "hotel", "train", "water", "lisbon", "april"]
texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=12)
prompts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=9)


def indexed(passages: list[str]) -> Index:
    index = Index()
    for number, text in enumerate(passages):
        index.put(f"{number}.md", [Passage(f"{number}.md", 0, text)])
    return index


@given(texts, prompts)
@settings(max_examples=60, deadline=None)
def test_a_cached_passage_has_the_score_that_it_has_in_the_whole_index(passages: list[str], asked: list[str]) -> None:
    index = indexed(passages)
    for prompt in asked:
        whole = index.best(query(prompt), len(passages))
        among = [number for number, _, _ in whole[1::2]]
        assert index.best(query(prompt), len(passages), among) == whole[1::2]


@given(texts, prompts, st.integers(0, 99))
@settings(max_examples=100, deadline=None)
def test_guesses_are_verified_in_time_and_final_prompts_never_guessed(
    passages: list[str], asked: list[str], seed: int
) -> None:
    rng, index = random.Random(seed), indexed(passages)
    guessing, sure = Retriever(index, VirtualClock().now, slow_s=0.0), Retriever(index, VirtualClock().now)
    for prompt in asked:
        guess = rng.random() < 0.7
        found = guessing.passages(prompt, guess)
        if not guess:
            assert found == sure.passages(prompt)
        assert len(found) <= COUNT
        assert guessing.figures.cached - guessing.figures.verified < STRIDE


def test_where_the_whole_index_answers_at_once_nothing_is_guessed() -> None:
    retriever = Retriever(indexed(WORDS), VirtualClock().now)
    for word in WORDS:
        retriever.passages(word, guess=True)
    assert retriever.figures.cached == 0
    assert retriever.figures.whole == len(WORDS)


def test_stems_and_accents_are_found_and_small_words_are_not() -> None:
    retriever = Retriever(indexed(["The flight leaves at nine", "what is the matter", "ein Café"]), VirtualClock().now)
    assert [one.note for one in retriever.passages("are there any flights")] == ["0.md"]
    assert [one.note for one in retriever.passages("where is the cafe?")] == ["2.md"]
    assert retriever.passages("what is it, and who are you") == ()


@given(st.text(max_size=200))
@settings(deadline=None)
def test_nothing_that_is_said_is_taken_for_an_order_to_the_index(said: str) -> None:
    assert len(Retriever(indexed(WORDS), VirtualClock().now).passages(f'{said}" OR carrot NEAR( * - {said}')) <= COUNT
