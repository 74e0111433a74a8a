"""The talk key: a tap toggles, holding holds, and a stutter does neither, whatever the terminal tells."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from predtui.tui.push_to_talk import PushToTalk

POLL = 0.05
STUTTER = 0.3


def played(key: PushToTalk, presses: list[float], until: float) -> list[tuple[float, bool]]:
    """The changes while the key arrives at these times, and is looked at every 50 ms."""
    looks = [(number * POLL, key.poll) for number in range(int(until / POLL))]
    changes = list[tuple[float, bool]]()
    for now, call in sorted([*((at, key.press) for at in presses), *looks], key=lambda step: step[0]):
        change = call(now)
        if change is not None:
            changes.append((now, change))
    return changes


class TestRepeats:
    @given(
        delay=st.floats(0.2, 0.66),
        interval=st.floats(0.015, 0.25),
        number=st.integers(3, 60),
        stutter=st.integers(0, 60),
        burst=st.booleans(),
    )
    @example(delay=0.66, interval=0.033, number=20, stutter=0, burst=False)
    def test_one_stutter_anywhere_is_one_question(
        self, delay: float, interval: float, number: int, stutter: int, burst: bool
    ) -> None:
        """``burst``: what the terminal held back comes all at once, else it is lost."""
        key, presses = PushToTalk(), [0.0, *(delay + n * interval for n in range(number))]
        at = presses[min(stutter, number - 1)]
        if burst:
            presses = [max(press, at + STUTTER) if press > at else press for press in presses]
        else:
            presses = [press + STUTTER if press > at else press for press in presses]
        last = presses[-1]
        (began, on), (ended, off) = played(key, presses, last + 5)
        assert (began, on, off) == (0.0, True, False)
        assert last < ended < last + 0.7 + 2 * interval + 2 * POLL
        assert key.way == "repeat"


class TestTaps:
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
        assert key.poll(last + 0.35) is None
        assert key.poll(last + 0.42) is False

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
        assert key.poll(0.85) is False
        assert key.press(0.95) is None
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


class TestReleases:
    def test_held_it_talks_until_it_is_let_go(self) -> None:
        key = PushToTalk(releases=True)
        assert key.press(0.0) is True
        assert key.poll(9.0) is None
        assert key.release(9.01) is False
        assert key.way == "release"

    @given(st.floats(0.0, 0.2))
    def test_a_tap_toggles(self, long: float) -> None:
        key = PushToTalk(releases=True)
        assert key.press(0.0) is True
        assert key.release(long) is None
        assert key.press(5.0) is False
        assert key.release(5.0 + long) is None
        assert not key.talking

    def test_the_first_release_tells_that_they_are_told(self) -> None:
        key = PushToTalk()
        key.press(0.0)
        assert key.release(1.0) is False
        assert key.way == "release"

    def test_a_terminal_that_tells_of_none_is_believed_no_longer(self) -> None:
        key, presses = PushToTalk(releases=True), [0.0, *(0.5 + 0.033 * n for n in range(30))]
        _, (ended, on) = played(key, presses, 4)
        assert not on
        assert presses[-1] < ended < presses[-1] + 0.5
        assert key.way == "repeat"

    def test_a_window_that_is_left_lets_go(self) -> None:
        key = PushToTalk(releases=True)
        key.press(0.0)
        assert key.lose(2.0) is False
        assert key.release(3.0) is None
        assert key.press(4.0) is True

    def test_a_window_that_is_left_ends_no_tap_and_no_repeats(self) -> None:
        for key in (PushToTalk(releases=True), PushToTalk()):
            key.press(0.0)
            if key.releases:
                key.release(0.01)
            assert key.lose(2.0) is None
            assert key.talking

    @given(
        st.lists(st.tuples(st.sampled_from(["press", "release", "lose", "poll"]), st.floats(0.001, 2.0)), max_size=40)
    )
    def test_whatever_comes_starts_and_stops_alternate(self, steps: list[tuple[str, float]]) -> None:
        key, now = PushToTalk(), 0.0
        told: list[bool] = []
        for step, gap in steps:
            now += gap
            change = getattr(key, step)(now)
            told += [] if change is None else [change]
        assert told == [index % 2 == 0 for index in range(len(told))]
        assert key.talking is (len(told) % 2 == 1)
