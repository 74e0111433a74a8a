"""Prompts that are answered side by side: all of them, and no more at once than there is room for."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from predtui.lab.training.cllm.replies import BATCH, PLACES, batches


@given(st.lists(st.integers(1, 3000), max_size=700), st.integers(1, 200))
def test_none_is_left_out_and_none_waits_without_need(lengths: list[int], limit: int) -> None:
    prompts = [range(length) for length in sorted(lengths)]
    made = list(batches(prompts, limit))
    assert [prompt for batch in made for prompt in batch] == prompts
    for batch in made:
        assert len(batch) == 1 or (len(batch) <= BATCH and len(batch) * (len(batch[-1]) + limit) <= PLACES)
    for batch, following in pairwise(made):
        assert len(batch) == BATCH or (len(batch) + 1) * (len(following[0]) + limit) > PLACES
