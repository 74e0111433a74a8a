from __future__ import annotations

from itertools import pairwise

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


@given(contexts, st.integers(0, 8), st.integers(0, 25))
def test_chances_never_grow_along_a_draft(said: list[list[int]], budget: int, position: int) -> None:
    drafter = SuffixCopy()
    for text in said:
        draft = drafter.propose(text, budget, min(position, len(text)))
        assert len(draft.chances) == len(draft.tokens)
        assert all(0 < later <= sooner < 1 for sooner, later in pairwise(draft.chances))


@given(st.integers(1, 4))
def test_a_chance_is_how_often_the_reply_was_foreseen(period: int) -> None:
    """A reply that goes round is foreseen ever more surely, one that never repeats what follows ever less."""
    drafter, doubter = SuffixCopy(3), SuffixCopy(1)
    for count in range(12 * period, 400, 40):
        round_and_round = [index % period for index in range(count)]
        sure = drafter.propose(round_and_round, 1, count).chances[0]
        never_again = [0 if index % 2 else index for index in range(count)]
        doubtful = doubter.propose(never_again, 1, count).chances[0]
    assert sure > 0.9
    assert doubtful < 0.1


def test_what_the_user_says_tells_nothing_of_replies() -> None:
    told, untold = SuffixCopy(), SuffixCopy()
    prompt = [1, 2, 3] * 20
    assert told.propose(prompt, 1, 0).chances[0] < untold.propose(prompt, 1, len(prompt)).chances[0]


def test_sizes_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="n-grams"):
        SuffixCopy(2, 3)
