"""Following who leads: what it may cost on any text, and that it finds the better of the two."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.lead import MOST, Lead

texts = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60)
"""For each token, whether the learner had guessed it, and whether the other had."""


@given(texts, st.integers(0, 60), st.integers(0, 60))
def test_what_is_lost_on_any_stretch_is_bounded(text: list[tuple[bool, bool]], start: int, length: int) -> None:
    lead, balance, unused = Lead(), 0, 0
    for place, (learnt, other) in enumerate(text):
        if start <= place < start + length:
            balance += 0 if lead.behind else learnt - other
            unused += lead.behind and learnt and not other
        lead.count(learnt, other)
    assert -balance <= MOST + 1 + unused


@given(texts)
def test_one_that_is_never_right_alone_is_soon_left(before: list[tuple[bool, bool]]) -> None:
    lead = Lead()
    for learnt, other in before:
        lead.count(learnt, other)
    for _ in range(MOST + 1):
        lead.count(False, True)
    assert lead.behind


@given(texts)
def test_one_that_is_always_right_is_soon_followed(before: list[tuple[bool, bool]]) -> None:
    lead = Lead()
    for learnt, other in before:
        lead.count(learnt, other)
    for _ in range(MOST):
        lead.count(True, False)
    assert not lead.behind


def test_who_has_learnt_is_followed_first() -> None:
    assert not Lead().behind
