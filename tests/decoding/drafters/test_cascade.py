"""A cascade: the corpus where it is sure, the model where it is not, and an end where neither is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding import datastore
from predtui.decoding.drafters.cascade import LIKELY, SURE, Cascade
from predtui.decoding.drafters.rest import foretold
from predtui.decoding.sampler import Greedy
from predtui.llm.base import Logits
from predtui.llm.scripted import ScriptedModel

END = 3
documents = st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=24), min_size=1, max_size=5)
contexts = st.lists(st.integers(0, 3), min_size=1, max_size=24)


class Sharp(ScriptedModel):
    """A model of four tokens that knows what it wants."""

    def __init__(self, sharpness: float, context: int = 64) -> None:
        super().__init__(2, context=context)
        self._sharpness, self.asked = sharpness, 0

    def logits(self, tokens: Sequence[int], last: int = 1) -> Logits:
        self.asked += 1
        return super().logits(tokens, last)[:, -4:] * np.float32(self._sharpness)


@given(documents, contexts, st.floats(0, 9), st.integers(0, 9))
@settings(deadline=None)
def test_each_token_is_of_the_source_that_is_sure(
    texts: list[list[int]], context: list[int], sharpness: float, budget: int
) -> None:
    store, model = datastore.build(texts, "toy"), Sharp(sharpness)
    draft = Cascade(store, model, Greedy(), END.__eq__).propose(context, budget)
    assert len(draft.tokens) <= budget
    assert len(draft.chances) == len(draft.tokens)
    assert all(chance >= LIKELY for chance in draft.chances)
    assert END not in draft.tokens[:-1]
    known, before = list(context), 1.0
    for token, chance in zip(draft.tokens, draft.chances, strict=True):
        row = Sharp(sharpness).logits(known)[0]
        from_model = token == row.argmax() and chance / before == pytest.approx(float(softmax(row)[token]))
        assert from_model or chance / before >= SURE
        known.append(token)
        before = chance


def softmax(row: Logits) -> Logits:
    weights: Logits = np.exp(row - row.max())
    return weights / weights.sum()


def test_a_corpus_that_is_sure_needs_no_model() -> None:
    store, model = datastore.build([[0, 1, 2, 0, 2, 1, END]] * 9, "toy"), Sharp(1.0)
    draft = Cascade(store, model, Greedy(), END.__eq__).propose([0, 1], 9)
    assert draft.tokens == (2, 0, 2, 1, END)
    assert model.asked == 0


def test_without_a_match_it_drafts_as_the_model_does_while_that_has_room() -> None:
    store = datastore.build([[0, 1, 2]], "toy")
    context = [1, 1, 1]
    for size in (2, 3, 5, 64):
        model = Sharp(50.0, context=size)
        draft = Cascade(store, model, Greedy(), (-1).__eq__).propose(context, 6)
        plain = itertools.islice(greedily(Sharp(50.0), context), min(6, max(0, size - 2)))
        assert list(draft.tokens) == list(plain)
    assert list(foretold(store, context)) == []


def greedily(model: Sharp, context: list[int]) -> Iterator[int]:
    while True:
        context = [*context, int(model.logits(context)[0].argmax())]
        yield context[-1]
