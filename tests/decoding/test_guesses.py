"""Guesses as drafts: what they share once, followed while they hold, taken up where the reply comes back to them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.base import WIDEST
from predtui.decoding.guesses import GRAM, Guesses, rest

runs = st.lists(st.lists(st.integers(0, 3), max_size=20), max_size=5)


@given(runs, st.integers(0, 40), st.floats(0.0, 1.0), st.booleans())
def test_a_draft_holds_nothing_but_beginnings_of_guesses(
    guesses: list[list[int]], budget: int, rate: float, branching: bool
) -> None:
    draft = Guesses(guesses, branching).draft(budget, rate)
    assert len(draft.tokens) <= budget
    assert not draft.branches or (branching and len(draft.tokens) <= WIDEST)
    edges = {(draft.parent(node), token) for node, token in enumerate(draft.tokens)}
    assert len(edges) == len(draft.tokens), "nothing stands twice"
    for node in range(len(draft.tokens)):
        path = [node]
        while (above := draft.parent(path[0])) >= 0:
            assert above < path[0]
            path.insert(0, above)
        tokens = [draft.tokens[one] for one in path]
        assert any(guess[: len(tokens)] == tokens for guess in guesses)
    if budget and any(guesses):
        first = next(guess for guess in guesses if guess)
        assert draft.tokens[:1] == (first[0],)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), st.lists(st.integers(1, 4), max_size=8))
def test_a_guess_that_holds_is_gone_on_with(guess: list[int], steps: list[int]) -> None:
    guesses, at = Guesses([guess]), 0
    for step in steps:
        if at + step > len(guess):
            break
        guesses.follow(guess[at : at + step])
        at += step
    assert guesses.draft(99).tokens == tuple(guess[at:])


def test_a_word_that_is_longer_or_shorter_than_guessed_is_got_over() -> None:
    guesses = Guesses([[1, 2, 3, 4, 5, 6]])
    guesses.follow([1, 2, 9])  # in the place of 3
    assert guesses.draft(9).tokens == (4, 5, 6)
    guesses.follow([8])  # there is a token more
    assert guesses.draft(9).tokens == ()
    guesses.follow([4, 5])
    assert guesses.draft(9).tokens == (6,)


def test_what_several_guesses_share_is_asked_once_and_the_first_of_them_goes_deeper() -> None:
    draft = Guesses([[1, 2, 3, 4, 5], [1, 7, 8]]).draft(5, 0.9)
    assert (draft.tokens, draft.parents) == ((1, 2, 3, 4, 5), ())
    draft = Guesses([[1, 2, 3, 4, 5], [1, 7, 8]]).draft(5, 0.5)
    assert sorted(zip(draft.parents, draft.tokens, strict=True)) == [(-1, 1), (0, 2), (0, 7), (1, 3), (2, 4)]


def test_the_rest_of_a_guess_is_behind_as_many_tokens_or_behind_the_same_ones() -> None:
    guess = [1, 2, 3, 4, 5, 6]
    assert rest(guess, []) == guess
    assert rest(guess, [1, 2]) == [3, 4, 5, 6]
    assert rest(guess, [1, 9]) == [3, 4, 5, 6]
    assert rest(guess, [1, 9, 9, 3, 4]) == [5, 6]
    assert rest(guess, [9] * (GRAM + 2)) == ()
