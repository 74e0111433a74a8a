"""What is recalled is what came last after the same token, and after the same two, wherever the context was cut."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.recall import NOTHING, Recall, along

texts = st.lists(st.integers(0, 3), min_size=1, max_size=20)


def looked_up(tokens: Sequence[int], count: int) -> int:
    """By going through all of them."""
    for end in range(len(tokens) - 1, count - 1, -1):
        if tokens[end - count : end] == tokens[len(tokens) - count :]:
            return tokens[end]
    return NOTHING


@given(st.lists(st.tuples(texts, st.lists(st.integers(0, 3), max_size=6)), min_size=1, max_size=4))
def test_it_tells_what_followed_last(asked: list[tuple[list[int], list[int]]]) -> None:
    recall = Recall()
    for context, path in asked:
        recall.read(context)
        whole = [*context, *path]
        assert recall.after(path) == (looked_up(whole, 1), looked_up(whole, 2) if len(whole) > 1 else NOTHING)


@given(texts, texts)
def test_along_a_reply_it_tells_the_same(prompt: list[int], reply: list[int]) -> None:
    recall = Recall()
    recall.read(prompt)
    assert along(prompt, reply) == [recall.after(reply[:end]) for end in range(1, len(reply) + 1)]
