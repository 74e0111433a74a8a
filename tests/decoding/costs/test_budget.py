"""Duo's budget: the ratio of the costs where verifying more costs no more, nothing where the target alone is faster."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.costs.budget import Budget
from predtui.decoding.costs.constants import DUO_LONGEST


def iterate(budget: Budget, alone: float, target: float, token: float, kept: int, right: bool) -> int:
    """One iteration: seconds of the target alone and beside a draft, of a drafted token; how many tokens hold."""
    length = budget.next()
    if not length:
        budget.alone(alone)
        return 0
    budget.verified(length, min(kept, length - 1), target)
    budget.drafted(length, length * token, right)
    return length


@given(st.floats(1e-4, 1.0), st.integers(1, DUO_LONGEST))
@settings(deadline=None)
def test_where_verifying_more_costs_no_more_the_budget_is_the_ratio_of_the_times(token: float, ratio: int) -> None:
    budget = Budget()
    for _ in range(400):
        length = iterate(budget, ratio * token, ratio * token, token, DUO_LONGEST, right=True)
    assert budget.off == (ratio == 1)
    assert length == (0 if ratio == 1 else ratio)


def test_the_budget_is_small_where_drafts_fail_and_nothing_where_verifying_costs() -> None:
    failing, costly = Budget(), Budget()
    for _ in range(200):
        iterate(failing, 1.0, 1.0, 0.1, 0, right=False)
        iterate(costly, 1.0, 5.0, 0.9, 2, right=False)
    assert failing.next() <= 10
    assert costly.off
    assert Budget(7).next() == 7
    assert not Budget(1).off


def test_no_draft_where_the_target_alone_is_faster_and_ever_fewer_trials() -> None:
    """Half of the first tokens hold, and the target takes 2.2 times as long beside a draft as alone."""
    budget = Budget()
    lengths = [iterate(budget, 1.0, 2.2, 0.1, 0, right=True) for _ in range(3000)]
    assert budget.off
    assert 0 < sum(length > 0 for length in lengths[1000:2000]) <= 10
    lengths = [iterate(budget, 5.0, 2.2, 0.1, 0, right=True) for _ in range(3000)]
    assert not budget.off
    assert sum(length > 0 for length in lengths) > 2000
