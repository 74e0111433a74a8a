from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.drafters.lookup import PromptLookup


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(0, 12))
def test_proposes_what_followed_the_longest_matching_suffix_last_time(context: list[int], budget: int) -> None:
    draft = PromptLookup(3, 2).propose(context, budget)
    assert len(draft.tokens) <= budget
    for size in (3, 2):
        ends = [end for end in range(size, len(context)) if context[end - size : end] == context[-size:]]
        if ends:
            assert list(draft.tokens) == context[ends[-1] : ends[-1] + budget]
            return
    assert draft.tokens == ()


def test_sizes_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="n-grams"):
        PromptLookup(2, 3)
