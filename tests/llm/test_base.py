"""What every engine does before a forward: it refuses what it must, and reuses what it remembers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.base import ContextOverflow, reusable

CONTEXT, VOCABULARY = 12, 3
tokens = st.lists(st.integers(0, VOCABULARY - 1), max_size=CONTEXT)


@given(tokens, tokens.filter(bool), st.data())
def test_what_is_reused_is_remembered_and_none_of_what_is_asked_for(
    memory: list[int], asked: list[int], data: st.DataObject
) -> None:
    last = data.draw(st.integers(1, len(asked)))
    kept = reusable(memory, asked, last, CONTEXT, VOCABULARY)
    assert memory[:kept] == asked[:kept]
    assert kept <= len(asked) - last
    assert kept == len(asked) - last or kept == len(memory) or memory[kept] != asked[kept]


@pytest.mark.parametrize(
    ("asked", "last", "error"),
    [([], 1, ValueError), ([1], 2, ValueError), ([1], 0, ValueError), ([1, 3], 1, ValueError), ([-1], 1, ValueError)],
)
def test_what_cannot_be_evaluated_is_refused(asked: list[int], last: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        reusable([1, 2], asked, last, CONTEXT, VOCABULARY)


def test_more_than_the_context_holds_is_refused() -> None:
    with pytest.raises(ContextOverflow):
        reusable([1], [1] * (CONTEXT + 1), 1, CONTEXT, VOCABULARY)
