"""A cascade: a corpus drafts for the draft model; an end where both doubt."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding import datastore
from predtui.decoding.drafters.cascade import LIKELY, Cascade, likelier
from predtui.decoding.drafters.rest import Foresight
from predtui.decoding.sampler import Greedy
from predtui.llm.rows import ArrayRow, ArrayRows, Logits, Rows
from predtui.llm.scripted import ScriptedModel

END = 3
documents = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=24), min_size=1, max_size=5)
contexts = st.lists(st.integers(0, 3), min_size=1, max_size=24)


class Sharp(ScriptedModel):
    """A model of four tokens that knows what it wants."""

    def __init__(self, sharpness: float, context: int = 64) -> None:
        super().__init__(2, context=context)
        self._sharpness, self.asked = sharpness, 0

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        self.asked += 1
        return ArrayRows(super().forward(tokens, last).logits[:, -4:] * np.float32(self._sharpness))


@given(documents, contexts, st.floats(0, 9), st.integers(0, 9))
@settings(deadline=None)
def test_each_token_is_what_the_model_or_the_corpus_says(
    texts: list[list[int]], context: list[int], sharpness: float, budget: int
) -> None:
    store, model = datastore.build(texts, "toy"), Sharp(sharpness)
    draft = Cascade(store, model, Greedy(), END.__eq__).propose(context, budget)
    assert len(draft.tokens) <= budget
    assert len(draft.chances) == len(draft.tokens)
    assert all(chance >= LIKELY for chance in draft.chances)
    assert list(draft.chances) == sorted(draft.chances, reverse=True)
    assert END not in draft.tokens[:-1]
    corpus, known = Foresight(store, context), list(context)
    for token in draft.tokens:
        said = [token for token, _ in corpus.ahead(1, -1.0)]
        assert token in (Sharp(sharpness).forward(known)[0].argmax(), *said)
        corpus.take(token)
        known.append(token)


class Knowing(Sharp):
    """Goes through ``text`` again and again."""

    def __init__(self, text: list[int]) -> None:
        super().__init__(1.0)
        self._text = text

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        super().forward(tokens, last)
        choices = [self._text[at % len(self._text)] for at in range(len(tokens) - last + 1, len(tokens) + 1)]
        return ArrayRows(9 * np.eye(4, dtype=np.float32)[choices])


def test_where_both_agree_one_forward_makes_a_draft() -> None:
    text = [0, 1, 2, 0, 2, 1, END]
    store, model = datastore.build([text] * 9, "toy"), Knowing(text)
    draft = Cascade(store, model, Greedy(), END.__eq__).propose([0, 1], 9)
    assert draft.tokens == (2, 0, 2, 1, END)
    assert model.asked == 1


def test_a_forward_goes_on_after_what_the_model_says_otherwise() -> None:
    text = [0, 1, 2, 0, 2, 1, END]
    store, model = datastore.build([[0, 1, 2, 0, 1, 1, END]] * 9, "toy"), Knowing(text)
    draft = Cascade(store, model, Greedy(), END.__eq__).propose([0, 1], 9)
    assert draft.tokens == (2, 0, 2, 1, END)
    assert 1 < model.asked < 5


@given(st.lists(st.floats(-9, 9), min_size=4, max_size=4), st.integers(0, 3), st.integers(0, 3), st.floats(0, 1))
def test_two_sources_that_agree_are_surer_and_the_likelier_one_stands(
    logits: list[float], own: int, said: int, trust: float
) -> None:
    row = np.array(logits, np.float32)
    p = softmax(row)
    token, chance = likelier(ArrayRow(row), own, said, trust)
    assert 0 <= chance <= 1 + 1e-6
    if not trust:
        assert (token, chance) == (own, pytest.approx(p[own], abs=1e-6))
    elif own == said:
        assert token == own
        assert trust < 0.5 or chance >= p[own] - 1e-6
    else:
        expected = said if p[said] * trust > p[own] * (1 - trust) else own
        assert token == expected or p[said] * trust == pytest.approx(p[own] * (1 - trust), abs=1e-6)


def softmax(row: Logits) -> Logits:
    weights: Logits = np.exp(row - row.max())
    return weights / weights.sum()


def test_without_a_match_it_drafts_as_the_model_does_while_that_has_room() -> None:
    store = datastore.build([[0, 1, 2]], "toy")
    context = [1, 1, 1]
    for size in (2, 3, 5, 64):
        model = Sharp(50.0, context=size)
        draft = Cascade(store, model, Greedy(), (-1).__eq__).propose(context, 6)
        plain = itertools.islice(greedily(Sharp(50.0), context), min(6, max(0, size - 2)))
        assert list(draft.tokens) == list(plain)


def greedily(model: Sharp, context: list[int]) -> Iterator[int]:
    while True:
        context = [*context, model.forward(context)[0].argmax()]
        yield context[-1]


@given(documents, contexts, st.data())
@settings(deadline=None)
def test_a_damaged_order_costs_a_draft_at_most(texts: list[list[int]], context: list[int], data: st.DataObject) -> None:
    store = datastore.build(texts, "toy")
    count = len(store.tokens) - 1
    places = np.array(data.draw(st.lists(st.integers(1, count), min_size=count, max_size=count)), np.int32)
    damaged = datastore.Datastore(store.tokens[:-1], places, "toy")
    for budget in (1, 9):
        draft = Cascade(damaged, Sharp(2.0), Greedy(), END.__eq__).propose(context, budget)
        assert len(draft.tokens) <= budget
