"""Time is told while a turn is under way, whatever else comes, and at no other time."""

from __future__ import annotations

import pytest

from predtui.state import events as ev
from predtui.state.reducer import reduce
from predtui.state.turn import Turn
from predtui.tui import chart
from predtui.tui.widgets.timeline import TimelinePane, course
from tests.runtime.harness import Harness


@pytest.fixture
def harness() -> Harness:
    """Nobody answers, and nothing is sampled."""
    return Harness([])


def test_the_timeline_goes_on_while_nothing_is_sampled(harness: Harness) -> None:
    harness.type("how are")
    pane = TimelinePane(harness.turn)
    for _ in range(5):
        before = pane.values.latest
        harness.wait(1.0)
        pane.show(harness.turn)
        assert pane.values.latest == before + 1.0 == harness.clock.now()
    assert not harness.of(ev.Usage)


def test_a_recording_shows_the_time_that_was_seen_live(harness: Harness) -> None:
    harness.type("how are")
    seen = []
    for _ in range(4):
        harness.wait(0.7)
        seen.append(course(harness.turn).latest)
    assert len(set(seen)) > 2
    again, latest = Turn(), []
    for event in harness.events:
        again = reduce(again, event)
        latest.append(chart.latest_moment(again))
    assert set(seen) <= set(latest)


def test_no_time_is_told_once_the_turn_is_over(harness: Harness) -> None:
    harness.wait(5.0)
    assert not harness.of(ev.Tick)
    harness.type("how are")
    harness.wait(1.0)
    harness.type("how are you", final=True)
    assert not harness.turn.busy
    harness.wait(5.0)
    assert len(harness.of(ev.Tick)) == 1


def test_each_second_is_told_once_however_much_happens_in_it(harness: Harness) -> None:
    for letters in range(1, 21):
        harness.type("x" * letters)
        harness.wait(0.25)
    assert [tick.time for tick in harness.of(ev.Tick)] == [101.0, 102.0, 103.0, 104.0, 105.0]
