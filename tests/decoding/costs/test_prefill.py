"""Reading: a long prompt is read for long replies only, and what was read before is not read again."""

from __future__ import annotations

import pytest

from predtui.decoding.costs.prefill import PrefillCost


def read(length: int, seconds: float, tokens: int, saving: float) -> PrefillCost:
    """One that took so long for a prompt of ``length`` tokens, and saved so much for each of the reply's ``tokens``."""
    reading = PrefillCost()
    assert reading.pays([*range(length)], 99)
    assert reading.took([*range(length)], seconds + 0.5, 0.5) == 0.5
    reading.saved(tokens, saving * tokens)
    reading.replied(tokens)
    return reading


@pytest.mark.parametrize(("unread", "limit", "saving", "pays"), [(100, 99, 0.1, True), (100, 30, 0.1, False)])
def test_a_prompt_is_read_for_as_many_tokens_as_save_more(unread: int, limit: int, saving: float, pays: bool) -> None:
    assert read(1000, 40.0, 50, saving).pays([-1] * unread, limit) == pays


def test_what_was_read_is_known() -> None:
    reading = read(1000, 40.0, 50, 0.01)
    assert reading.pays([*range(1010)], 99)
    assert reading.took([*range(1010)], 0.9, 0.5) == 0.5
    assert reading.took([*range(1010)], 0.9, 0.5) == 0.9
    assert not reading.pays([-1] * 1010, 99)


def test_what_does_not_pay_is_tried_again_less_and_less() -> None:
    reading = read(1000, 40.0, 50, -0.01)
    assert [reply for reply in range(1, 100) if reading.pays([-1] * 900, 99)] == [4, 12, 28, 60, 92]


def test_nothing_is_told_of_a_first_draft_that_is_the_first_of_all() -> None:
    reading = PrefillCost()
    reading.pays([1, 2], 9)
    assert reading.took([1, 2], 5.0, 0.0) is None
    assert reading.took([1, 2, 3], 1.0, 0.0) == 1.0
