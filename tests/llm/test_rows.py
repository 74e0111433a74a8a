"""Whole and partial rows answer alike, as far as the partial ones answer at all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.llm.load import load
from predtui.llm.rows import ArrayRow, ArrayRows, Logits, PartialRow, RowList, Unanswered
from tests.llm.remote.double import remote

SIZE = 30
rows = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).normal(size=SIZE).astype(np.float32))
tied = st.lists(st.integers(0, 3), min_size=1, max_size=12).map(lambda row: np.array(row, np.float32))


def partial(logits: Logits, count: int, *others: int) -> PartialRow:
    row = ArrayRow(logits)
    likeliest = [(token, row.logprob(token)) for token in row.top(count)]
    return PartialRow(likeliest, [(token, row.logprob(token)) for token in others])


@given(rows)
def test_log_probabilities_are_of_one_distribution_and_order_tokens_as_logits_do(logits: Logits) -> None:
    row = ArrayRow(logits)
    logprobs = [row.logprob(token) for token in range(SIZE)]
    assert math.fsum(map(math.exp, logprobs)) == pytest.approx(1, abs=1e-5)
    assert np.argsort(logprobs).tolist() == np.argsort(logits).tolist()
    for token in range(SIZE):
        assert row.gap(token) == pytest.approx(logprobs[row.argmax()] - logprobs[token], abs=1e-5)


@given(rows | tied, st.integers(0, 40))
def test_the_likeliest_come_first_and_ranks_count_what_is_likelier(logits: Logits, count: int) -> None:
    row = ArrayRow(logits)
    top = list(row.top(count))
    assert len(top) == len(set(top)) == min(count, logits.size)
    assert [logits[token] for token in top] == sorted(logits, reverse=True)[:count]
    assert [row.rank(token) for token in row.top(1)] in ([], [0])
    for token in range(logits.size):
        assert row.rank(token) == sum(logits > logits[token])


@given(tied)
def test_of_equal_logits_the_lowest_token_is_chosen(logits: Logits) -> None:
    row = ArrayRow(logits)
    assert row.argmax() == min(token for token in range(logits.size) if logits[token] == max(logits))
    assert row.top(logits.size)[0] == row.argmax()


@given(rows, st.integers(1, SIZE))
def test_a_partial_row_tells_the_same_of_what_it_knows_and_nothing_else(logits: Logits, count: int) -> None:
    whole, least = ArrayRow(logits), int(logits.argmin())
    row = partial(logits, count, least)
    assert row.argmax() == whole.argmax()
    assert list(row.top(SIZE)) == list(whole.top(count))
    for token in range(SIZE):
        assert row.rank(token) == min(whole.rank(token), count)
        if whole.rank(token) < count or token == least:
            assert row.logprob(token) == whole.logprob(token)
            assert row.gap(token) == pytest.approx(whole.gap(token), abs=1e-5)
        else:
            with pytest.raises(Unanswered):
                row.logprob(token)
            with pytest.raises(Unanswered):
                row.gap(token)
    with pytest.raises(Unanswered, match="whole rows"):
        _ = row.logits


@given(st.integers(1, 6), st.slices(6))
def test_rows_are_a_sequence_over_an_array_that_is_not_copied(count: int, part: slice) -> None:
    logits = np.random.default_rng(count).normal(size=(count, SIZE)).astype(np.float32)
    for several in (ArrayRows(logits), RowList([ArrayRow(row) for row in logits])):
        assert len(several) == count
        np.testing.assert_array_equal(several.logits, logits)
        np.testing.assert_array_equal(np.stack([row.logits for row in several]), logits)
        np.testing.assert_array_equal([several[i].argmax() for i in range(count)], logits.argmax(1))
        assert [row.argmax() for row in several[part]] == logits[part].argmax(1).tolist()
    assert np.shares_memory(ArrayRows(logits)[-1].logits, logits)
    assert np.shares_memory(ArrayRows(logits)[part].logits, logits) or not len(logits[part])


def test_what_is_no_number_is_seen() -> None:
    logits = np.ones((2, SIZE), np.float32)
    assert ArrayRows(logits).finite
    assert RowList([partial(logits[0], 3)]).finite
    logits[1, 7] = np.nan
    assert not ArrayRows(logits).finite
    assert not RowList([PartialRow([(3, math.nan)])]).finite


def test_what_a_model_does_not_tell_is_refused_with_the_reason() -> None:
    whole, told = load("3", engine="scripted"), remote(3)
    whole.require("This", whole=True, top=10**6, logprob=True)
    told.require("This", top=20)
    assert told.abilities.told == "the 20 likeliest tokens"
    for asked, lacking in (({"whole": True}, "whole rows"), ({"top": 21}, "21 likeliest"), ({"logprob": True}, "log-")):
        with pytest.raises(PredtuiError, match=f"^This needs .*{lacking}.*, and the remote engine gives only the 20 "):
            told.require("This", **asked)  # type: ignore[arg-type]


def test_states_go_with_their_rows() -> None:
    logits, states = np.zeros((5, SIZE), np.float32), np.arange(10, dtype=np.float32).reshape(5, 2)
    for several in (ArrayRows(logits, states), RowList([ArrayRow(row) for row in logits], states)):
        part = several[1:4].hidden
        assert part is not None
        assert (part == states[1:4]).all()
    assert ArrayRows(logits)[1:].hidden is None
