from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.drafters.suffix import SuffixCopy

contexts = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=25), min_size=1, max_size=4)


def after(said: list[list[int]], recent: list[int], longest: int, shortest: int) -> int | None:
    """By search: what followed the longest suffix of ``recent`` when it was last seen."""
    for size in range(min(longest, len(recent)), shortest - 1, -1):
        for text in reversed(said):
            for end in range(len(text) - 1, size - 1, -1):
                if text[end - size : end] == recent[-size:]:
                    return text[end]
    return None


@given(contexts, st.integers(0, 8), st.integers(1, 3), st.integers(0, 2))
def test_each_token_follows_the_longest_suffix_said_before(
    said: list[list[int]], budget: int, shortest: int, more: int
) -> None:
    """Contexts here begin with tokens of their own, since what is shared with the context before is not said again."""
    said = [[100 + number, *text] for number, text in enumerate(said)]
    drafter = SuffixCopy(shortest + more, shortest)
    draft: tuple[int, ...] = ()
    for text in said:
        draft = drafter.propose(text, budget).tokens
    expected = list(said[-1])
    while (
        len(expected) < len(said[-1]) + budget
        and (token := after(said, expected, shortest + more, shortest)) is not None
    ):
        expected.append(token)
    assert list(draft) == expected[len(said[-1]) :]


def test_a_growing_context_is_learnt_once() -> None:
    drafter = SuffixCopy()
    sentence = [1, 2, 3, 4, 5, 6, 7]
    for end in range(1, len(sentence) + 1):
        drafter.propose(sentence[:end], 3)
    drafter.reset()
    assert drafter.propose([9, 2, 3, 4], 2).tokens == (5, 6)


def test_sizes_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="n-grams"):
        SuffixCopy(2, 3)
