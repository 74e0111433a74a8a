from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.sampler import Greedy, Seeded, foreseen, gumbel, independent, randomness, sampler
from predtui.errors import PredtuiError
from predtui.llm.rows import ArrayRow

LOGITS = np.log(np.array([0.5, 0.25, 0.15, 0.06, 0.04], np.float32))
ROW = ArrayRow(LOGITS)


def frequencies(chooser: Seeded, draws: int = 4000) -> np.ndarray:
    picks = [chooser.choose(ROW, position) for position in range(draws)]
    return np.bincount(picks, minlength=LOGITS.size) / draws


def test_samples_follow_the_softmax() -> None:
    expected = np.exp(LOGITS)
    chi_square = 4000 * ((frequencies(Seeded(seed=11)) - expected) ** 2 / expected).sum()
    assert chi_square < 18.5  # 99.9 % of a chi-square distribution with 4 degrees of freedom


def test_temperature_sharpens_and_flattens() -> None:
    cold, hot = frequencies(Seeded(0.5, seed=2)), frequencies(Seeded(5.0, seed=2))
    expected = np.exp(LOGITS / 0.5)
    np.testing.assert_allclose(cold, expected / expected.sum(), atol=0.03)
    assert hot.max() < 0.3


@pytest.mark.parametrize(
    ("chooser", "allowed"),
    [
        (Seeded(top_k=2), {0, 1}),
        (Seeded(top_p=0.5), {0}),
        (Seeded(top_p=0.8), {0, 1, 2}),
        (Seeded(min_p=0.2), {0, 1, 2}),
        (Seeded(top_k=4, top_p=0.95, min_p=0.4), {0, 1}),
    ],
)
def test_cuts_keep_just_what_they_say(chooser: Seeded, allowed: set[int]) -> None:
    assert set(chooser.kept(ROW).tokens.tolist()) == allowed
    assert {chooser.choose(ROW, position) for position in range(300)} == allowed


@given(st.permutations(list(range(12))), st.integers(0, 2**64 - 1))
def test_choices_do_not_depend_on_the_order_of_positions(order: list[int], seed: int) -> None:
    chooser = Seeded(seed=seed)
    forward = [chooser.choose(ROW, position) for position in range(12)]
    shuffled = {position: chooser.choose(ROW, position) for position in order}
    assert [shuffled[position] for position in range(12)] == forward


def test_without_the_tie_each_look_draws_afresh_from_the_same_distribution_and_runs_agree() -> None:
    free, again = (independent(Seeded(seed=4)) for _ in range(2))
    drawn = [free.choose(ROW, 0) for _ in range(4000)]
    assert drawn == [again.choose(ROW, 7) for _ in range(4000)]
    expected = np.exp(LOGITS)
    assert 4000 * ((np.bincount(drawn) / 4000 - expected) ** 2 / expected).sum() < 18.5
    assert independent(Greedy()).choose(ROW, 0) == 0


def test_noise_differs_between_positions_and_seeds() -> None:
    rows = [gumbel(randomness(seed, position).random(64)) for seed in (0, 1, 2) for position in range(20)]
    assert len({tuple(row) for row in rows}) == len(rows)
    assert abs(np.corrcoef(rows) - np.eye(len(rows))).max() < 0.6


def test_greedy_takes_the_likeliest_and_the_lowest_of_equals() -> None:
    assert Greedy().choose(ROW, 5) == 0
    assert Greedy().choose(ArrayRow(np.array([1, 3, 3], np.float32)), 0) == 1
    assert isinstance(sampler(0), Greedy)
    assert sampler(0.7, 5, 0.9, 0.1, 3) == Seeded(0.7, 5, 0.9, 0.1, 3)


@pytest.mark.parametrize(
    "wrong", [(-1.0,), (float("nan"),), (1.0, -1), (1.0, 0, 0.0), (1.0, 0, 1.5), (1.0, 0, 1.0, 2.0)]
)
def test_values_out_of_range_are_refused(wrong: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"temperature|range"):
        Seeded(*wrong)  # type: ignore[arg-type]
    with pytest.raises(PredtuiError, match=r"temperature|range"):
        sampler(*wrong)  # type: ignore[arg-type]


@given(
    st.integers(1, 4000), st.sampled_from([0, 1, 3, 40]), st.sampled_from([0.05, 0.5, 0.9, 1.0]), st.integers(0, 2**32)
)
def test_cuts_of_a_large_vocabulary_are_those_of_a_sorted_one(size: int, top_k: int, top_p: float, seed: int) -> None:
    logits = (4 * np.random.default_rng(seed).standard_normal(size)).astype(np.float32)
    order = np.argsort(-logits.astype(np.float64), kind="stable")[: top_k or size]
    weights = np.exp(logits[order].astype(np.float64) - logits.max())
    before = np.concatenate(([0.0], np.cumsum(weights / weights.sum())[:-1]))
    expected = {*order[before < top_p].tolist()}
    unsure = {*order[np.abs(before - top_p) < 1e-9].tolist()} if top_p < 1 else set()
    kept = {*Seeded(top_k=top_k, top_p=top_p).kept(ArrayRow(logits)).tokens.tolist()}
    assert kept - unsure == expected - unsure


@given(st.integers(1, 400), st.integers(0, 2**64 - 1))
def test_a_cut_leaves_the_noise_of_what_is_kept(count: int, seed: int) -> None:
    """So that a draft which keeps other tokens foresees the same choice."""
    logits = np.linspace(5, 0, 4000, dtype=np.float32)
    noisy = logits[:count].astype(np.float64) + gumbel(randomness(seed, 7).random(logits.size))[:count]
    assert Seeded(top_k=count, seed=seed).choose(ArrayRow(logits), 7) == int(noisy.argmax())


@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=40, unique=True),
    st.builds(
        Seeded,
        temperature=st.floats(0.2, 2.0),
        top_k=st.integers(0, 50),
        top_p=st.sampled_from([0.5, 0.9, 1.0]),
        min_p=st.sampled_from([0.0, 0.1]),
        seed=st.integers(0, 9),
    ),
    st.integers(1, 8),
    st.booleans(),
)
def test_of_some_tokens_alone_the_same_is_foreseen_as_where_no_other_can_come(
    some: list[int], position_seeded: Seeded, count: int, seeded: bool
) -> None:
    chooser = position_seeded if seeded else independent(position_seeded)
    tokens = np.array(some)
    logits = np.random.default_rng(len(some)).normal(size=len(some)).astype(np.float32)
    whole = np.full(max(some) + 1, -np.inf, np.float32)
    whole[tokens] = logits
    alone = foreseen(chooser, ArrayRow(logits), 3, count, tokens)
    among = foreseen(chooser, ArrayRow(whole), 3, count)
    assert [token for token, _ in alone] == [token for token, _ in among]
    np.testing.assert_allclose([chance for _, chance in alone], [chance for _, chance in among], rtol=1e-5)
