"""A draft model: it says how sure it is, and stops where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.drafters.model import UNSURE, ModelDrafter
from predtui.decoding.sampler import Greedy, Seeded
from predtui.llm.scripted import ScriptedModel


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9), st.integers(0, 9), st.integers(0, 9))
def test_a_greedy_draft_tells_the_chance_of_all_it_holds_and_ends_where_that_is_small(
    context: list[int], budget: int, seed: int
) -> None:
    model = ScriptedModel(seed)
    draft = ModelDrafter(model, Greedy(), (-1).__eq__).propose(context, budget)
    known, together = list(context), 1.0
    for token, chance in zip(draft.tokens, draft.chances, strict=True):
        row = model.forward(known).logits[-1].astype(np.float64)
        together *= float(np.exp(row[token] - row.max()) / np.exp(row - row.max()).sum())
        assert token == row.argmax()
        assert chance == pytest.approx(together, abs=1e-4)
        known.append(token)
    assert all(chance >= UNSURE for chance in draft.chances)
    assert len(draft.tokens) <= budget


def test_a_sampled_draft_tells_its_distributions_instead() -> None:
    model = ScriptedModel(1)
    draft = ModelDrafter(model, Seeded(1.0, seed=4), (-1).__eq__).propose([1, 2], 5)
    assert draft.chances == ()
    assert draft.q is not None
    assert draft.q.shape == (len(draft.tokens), model.vocab_size)
