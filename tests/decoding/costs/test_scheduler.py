from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.costs.constants import DECIDE, FIRST, LENGTHS, NEARLY
from predtui.decoding.costs.curve import Curve, Line
from predtui.decoding.costs.scheduler import Scheduler


@given(st.dictionaries(st.integers(1, 40), st.floats(0.001, 9), min_size=1), st.integers(1, 60), st.integers(1, 60))
def test_a_size_costs_what_was_measured_or_what_a_larger_one_does(seen: dict[int, float], low: int, high: int) -> None:
    curve = Curve()
    for size, seconds in seen.items():
        curve.add(size, seconds)
    low, high = sorted((low, high))
    assert curve.seconds(low) <= curve.seconds(high) + 1e-9
    for size in seen:
        assert curve.seconds(size) == pytest.approx(min(s for known, s in seen.items() if known >= size))


def test_a_curve_is_not_moved_by_a_stall() -> None:
    curve = Curve()
    for seconds in (1.0, 1.1, 50.0, 0.9, 1.0):
        curve.add(4, seconds)
    assert curve.seconds(4) == 1.0
    assert 4 in curve
    assert 5 not in curve


def test_the_smallest_and_the_largest_size_speak_for_themselves() -> None:
    curve = Curve()
    curve.add(1, 1.0)
    for _ in range(9):
        curve.add(4, 4.0)
        curve.add(5, 5.0)
    curve.add(20, 6.0)
    assert curve.seconds(1) == 1.0
    assert curve.seconds(20) == 6.0
    assert 5.0 < curve.seconds(8) < 6.0


@given(st.floats(0, 9), st.floats(0.01, 9), st.lists(st.integers(1, 30), min_size=2, max_size=40), st.integers(1, 60))
def test_a_line_goes_on_as_it_was_measured(start: float, step: float, sizes: list[int], size: int) -> None:
    line = Line()
    assert line.seconds(size) == 0.0
    for seen in sizes:
        line.add(seen, start + step * seen)
    expected = start + step * size
    assert line.seconds(size) == pytest.approx(expected) or len(set(sizes)) == 1
    assert line.seconds(sizes[0]) == pytest.approx(start + step * sizes[0]) or len(set(sizes)) > 1


@given(st.lists(st.tuples(st.integers(1, 30), st.floats(0, 9)), min_size=1, max_size=40), st.integers(1, 60))
def test_a_line_neither_falls_nor_begins_below_nothing(seen: list[tuple[int, float]], size: int) -> None:
    line = Line()
    for measured, seconds in seen:
        line.add(measured, seconds)
    assert -1e-6 <= line.seconds(0) <= line.seconds(size) + 1e-6


class Measured(Scheduler):
    """A scheduler whose forwards are measured into its curve, as an instrument does."""

    def __init__(self, costs: Curve, first: int = FIRST) -> None:
        super().__init__(costs, first=first)
        self._costs = costs

    def took(self, evaluated: int, seconds: float) -> None:
        self._costs.add(evaluated, seconds)
        self.verified(evaluated)


def simulate(chance: float, token_cost: float, draft_cost: float, forwards: int) -> tuple[Measured, float]:
    """Forwards of 1 + ``token_cost`` a draft token, and how much faster than without drafts they were."""
    scheduler, rng = Measured(Curve()), random.Random(1)
    seconds = tokens = 0.0
    for _ in range(forwards):
        length = 0 if scheduler.paused else scheduler.budget()
        scheduler.waited(1)
        accepted = next((i for i in range(length) if rng.random() >= chance), length)
        cost = 1 + token_cost * length
        scheduler.took(length + 1, cost)
        if length:
            scheduler.drafted(length, length, accepted, draft_cost * length)
        seconds += cost + draft_cost * length
        tokens += accepted + 1
    return scheduler, tokens / seconds


@pytest.mark.parametrize("chance", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize(("token_cost", "draft_cost"), [(0.0, 0.05), (0.4, 0.0), (0.4, 0.3), (1.0, 1.0)])
def test_never_slower_than_three_percent_and_near_the_best_length(
    chance: float, token_cost: float, draft_cost: float
) -> None:
    def speed(length: int) -> float:
        return sum(chance**i for i in range(length + 1)) / (1 + (token_cost + draft_cost) * length)

    scheduler, gain = simulate(chance, token_cost, draft_cost, 4000)
    best = max(speed(length) for length in range(17))
    assert gain >= 0.97
    assert gain >= 0.88 * best
    if best < 1.0001:
        assert scheduler.off


def test_drafting_is_tried_again_and_found_to_pay() -> None:
    scheduler, _ = simulate(0.1, 1.0, 0.5, 500)
    assert scheduler.off
    for _ in range(5000):
        length = 0 if scheduler.paused else scheduler.budget()
        scheduler.waited(1)
        scheduler.took(length + 1, 1.0)
        if length:
            scheduler.drafted(length, length, length, 0.01)
    assert not scheduler.off
    assert scheduler.rate > 0.9


@given(
    st.lists(st.floats(0.01, 1.0), max_size=12),
    st.lists(st.floats(0.01, 3.0), min_size=13, max_size=13),
    st.floats(0, 2),
)
def test_so_much_of_a_draft_is_verified_as_brings_the_most_tokens_a_second(
    rates: list[float], steps: list[float], seconds: float
) -> None:
    verify = Curve()
    for size in range(1, 14):
        verify.add(size, sum(steps[:size]))
    chances = list(itertools.accumulate(rates, lambda above, rate: above * rate))
    count = Scheduler(verify).worth(chances, seconds)

    def speed(length: int) -> float:
        return (1 + sum(chances[:length])) / (seconds + sum(steps[: length + 1]))

    assert speed(count) == pytest.approx(max(speed(length) for length in range(len(chances) + 1)))


@pytest.mark.parametrize(("natural", "low", "high"), [(999, 12, 24), (4, 32, 64)])
def test_sources_that_end_by_themselves_are_given_room(natural: int, low: int, high: int) -> None:
    """A longer budget costs those nothing that rarely spend it."""
    scheduler, rng = Measured(Curve()), random.Random(1)
    for _ in range(400):
        proposed = min(scheduler.budget(), 1 + int(rng.expovariate(1 / natural)))
        scheduler.took(proposed + 1, 1 + 0.3 * proposed)
        if proposed:
            accepted = next((i for i in range(proposed) if rng.random() > 0.98), proposed)
            scheduler.drafted(proposed, proposed, accepted, 0.1 * proposed)
    assert low <= scheduler.budget() <= high


def test_the_first_drafts_grow_as_long_as_they_are_accepted() -> None:
    def second(accepted: int) -> int:
        scheduler = Measured(Curve(), first=3)
        scheduler.took(1, 1.0)
        scheduler.drafted(3, 3, accepted, 0.1)
        return scheduler.budget()

    assert (second(3), second(2)) == (6, 3)


def test_an_empty_draft_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        Scheduler(Curve()).drafted(0, 0, 0, 0.0)


def test_a_source_without_drafts_is_asked_less_and_less() -> None:
    scheduler, asked = Measured(Curve()), 0
    scheduler.took(1, 1.0)
    for _ in range(1000):
        if scheduler.paused:
            scheduler.waited(1)
        elif scheduler.budget():
            asked += 1
            scheduler.missed()
    assert 100 < asked < 300


@given(
    st.lists(st.tuples(st.integers(1, 16), st.floats(0, 1), st.floats(0, 3)), min_size=32, max_size=99),
    st.lists(st.floats(0.001, 2.0), min_size=17, max_size=17),
)
def test_smartspec_never_picks_a_length_that_its_own_model_says_is_slower(
    drafts: list[tuple[int, float, float]], steps: list[float]
) -> None:
    """Whenever it decides: what it picks is no slower than no drafts, and as good as the best; where nothing is faster
    than no drafts, it picks none."""
    verify = Curve()
    for size in range(1, 18):
        verify.add(size, sum(steps[:size]))
    scheduler = Scheduler(verify)
    for number, (proposed, share, seconds) in enumerate(drafts, 1):
        scheduler.drafted(proposed, proposed, int(share * proposed), seconds)
        scheduler.verified(1)
        if number % DECIDE == 0:
            best = max(scheduler.goodput(length) for length in LENGTHS)
            picked = 0 if scheduler.off else scheduler.budget()
            assert scheduler.goodput(picked) >= max(scheduler.goodput(0), NEARLY * best)
            assert (picked > 0) == (best > scheduler.goodput(0))
