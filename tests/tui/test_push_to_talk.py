"""The talk key: a tap toggles, holding holds, and a stutter of the terminal does neither."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.tui.push_to_talk import PushToTalk


class TestPushToTalk:
    def test_a_tap_starts_and_a_later_tap_stops(self) -> None:
        key = PushToTalk()
        assert key.press(0.0) is True
        assert key.poll(5.0) is None
        assert key.press(6.0) is False

    @pytest.mark.parametrize("delay", [0.25, 0.5, 0.66])
    def test_a_held_key_talks_until_its_repeats_stop(self, delay: float) -> None:
        key = PushToTalk()
        assert key.press(0.0) is True
        now = delay
        for _ in range(40):
            assert key.press(now) is None
            assert key.poll(now + 0.02) is None
            now += 0.033
        last = now - 0.033
        assert key.poll(last + 0.2) is None
        assert key.poll(last + 0.3) is False

    def test_a_stutter_of_the_terminal_does_not_let_go(self) -> None:
        key = PushToTalk()
        for now in (0.0, 0.4, 0.43, 0.46, 0.68):
            key.press(now)
            assert key.poll(now) is None
        assert key.talking

    def test_a_late_repeat_does_not_start_again(self) -> None:
        key = PushToTalk()
        for now in (0.0, 0.4, 0.43):
            key.press(now)
        assert key.poll(0.8) is False
        assert key.press(0.9) is None
        assert not key.talking

    def test_two_quick_taps_end_as_a_release(self) -> None:
        key = PushToTalk()
        key.press(0.0)
        key.press(0.2)
        assert key.poll(0.7) is None
        assert key.poll(0.81) is False

    @given(st.lists(st.floats(0.01, 3.0), max_size=30))
    def test_starts_and_stops_alternate(self, gaps: list[float]) -> None:
        key, now, changes = PushToTalk(), 0.0, []
        for gap in gaps:
            now += gap
            changes += [change for change in (key.poll(now), key.press(now)) if change is not None]
        assert all(change is (index % 2 == 0) for index, change in enumerate(changes))
