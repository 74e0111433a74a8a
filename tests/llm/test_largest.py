"""The largest values are those that sorting finds, also where many are equal, infinite, or no numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.largest import largest

SIZES = st.integers(0, 3000)


@given(SIZES, st.integers(0, 40), st.integers(1, 1000), st.integers(0, 2**32 - 1))
def test_what_sorting_finds_is_found(size: int, count: int, kinds: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, kinds, size).astype(np.float32)
    values[values == 0] = -np.inf
    found = largest(values, count)
    assert found.tolist() == np.argsort(-values, kind="stable")[:count].tolist()


@given(SIZES, st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_what_is_no_number_leaves_as_many(size: int, count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    values = np.where(random.random(size) < 0.5, np.nan, random.random(size))
    found = largest(values, count)
    assert len(found) == len({*found.tolist()}) == min(count, size)
