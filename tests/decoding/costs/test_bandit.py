"""What the bandit may lose is bounded at every moment, whatever its arms do; and what it knows of them fades."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.costs.arms import Arm, Unheard
from predtui.decoding.costs.bandit import Bandit
from predtui.decoding.costs.constants import BANDIT_GLANCE, BANDIT_HEED, BANDIT_LOOK, BANDIT_STAKE, BANDIT_STAKE_FIRST
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.draft import Draft

SLACK = 1e-6
steps = st.tuples(st.floats(0.1, 30), st.floats(0, 9), st.floats(-20, 1), st.floats(0, 9), st.floats(0, 9))


def test_an_arm_that_was_never_right_is_still_reckoned_with() -> None:
    arm = Arm("it", Unheard(), Instrument(VirtualClock()), trees=False)
    draft = Draft((5, 6), chances=(0.9, 0.5))
    for _ in range(12_000):
        arm.kept(1.4, 0, doubtful=False)
    assert all(0 <= chance < 0.02 for chance in arm.chances(draft, doubtful=False))


@given(st.lists(steps, max_size=80), st.integers(1, 5))
def test_no_more_is_lost_than_the_shares_of_the_time(moments: list[tuple[float, ...]], arms: int) -> None:
    bandit = Bandit([1.5] * arms, 2)
    time = lost = won = looked = glanced = heeded = 0.0
    for passed, risk, outcome, look, heed in moments:
        if bandit.bears(risk, best=moments.index((passed, risk, outcome, look, heed)) % 2 == 0):
            loss = risk * outcome  # at worst the whole risk
            bandit.staked(loss)
            lost, won = lost + max(0.0, loss), won + max(0.0, -loss)
        if bandit.most_promising(0, range(arms), [look] * arms) is not None:
            bandit.looked(look)
            looked += look
        if bandit.glances(look):
            bandit.glanced(look)
            glanced += look
        if bandit.heeds(heed):
            bandit.heeded(heed)
            heeded += heed
        assert lost <= BANDIT_STAKE_FIRST + BANDIT_STAKE * time + won + SLACK
        assert looked <= BANDIT_LOOK * time + SLACK
        assert glanced <= BANDIT_GLANCE * time + SLACK
        assert heeded <= BANDIT_HEED * time + SLACK
        bandit.passed(passed)
        time += passed


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.floats(1, 9), st.floats(0.1, 9)), max_size=60))
def test_only_what_is_faster_than_none_is_asked_and_the_fastest_first(
    drafts: list[tuple[int, int, float, float]],
) -> None:
    bandit = Bandit([0.9, 1.0, 1.1, 1.5], 2)
    for arm, kind, tokens, cost in drafts:
        bandit.learn(arm, kind, tokens, cost)
    for kind in range(2):
        values = [bandit.value(arm, kind) for arm in bandit.order(kind)]
        assert values == sorted(values, reverse=True)
        assert all(value > 1 for value in values)
        assert {*bandit.order(kind)} == {arm for arm in bandit.arms if bandit.value(arm, kind) > 1}


def test_what_is_known_in_one_kind_is_thought_of_the_other_until_that_says_otherwise() -> None:
    bandit = Bandit([1.2], 2)
    for _ in range(20):
        bandit.learn(0, 1, 6.0, 2.0)
    assert bandit.value(0, 0) == pytest.approx(bandit.value(0, 1), rel=0.2)
    for _ in range(20):
        bandit.learn(0, 0, 1.0, 2.0)
    assert bandit.order(0) == []
    assert bandit.order(1) == [0]


def test_an_arm_that_was_bad_is_tried_again_in_the_end() -> None:
    bandit = Bandit([1.5], 1)
    for _ in range(40):
        bandit.learn(0, 0, 1.0, 2.0)
    assert bandit.order(0) == []
    replies = 0
    while not bandit.order(0):
        bandit.forget()
        replies += 1
    assert 10 < replies < 400


def test_an_arm_that_is_asked_in_vain_is_worth_less() -> None:
    bandit = Bandit([1.5, 1.5], 1)
    bandit.learn(0, 0, 4.0, 2.0)
    before = bandit.value(0, 0)
    bandit.vain(0, 0, 0.5)
    assert bandit.value(0, 0) < before
