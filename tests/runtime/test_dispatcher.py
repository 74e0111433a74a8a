"""Jobs and timers run in order, each once, and one that raises stops no other."""

from __future__ import annotations

import logging
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import RealClock, VirtualClock
from predtui.runtime.dispatcher import Dispatcher

PATIENCE_S = 20.0


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.booleans()), max_size=20), st.floats(0, 3))
def test_what_is_due_has_run_in_the_order_of_its_time(plan: list[tuple[float, bool]], passed: float) -> None:
    """Timers of the same moment in the order they were set; jobs in the order they were posted."""
    clock = VirtualClock(10.0)
    dispatcher = Dispatcher(clock)
    jobs: list[int] = []
    timers: list[int] = []
    for number, (seconds, is_job) in enumerate(plan):
        if is_job:
            dispatcher.post(lambda number=number: jobs.append(number))
        else:
            dispatcher.after(seconds, lambda number=number: timers.append(number))
    clock.advance(passed)
    dispatcher.pump()
    assert jobs == [number for number, (_, is_job) in enumerate(plan) if is_job]
    due = [(seconds, number) for number, (seconds, is_job) in enumerate(plan) if not is_job and seconds <= passed]
    assert timers == [number for _, number in sorted(due)]


def test_a_job_may_post_and_set_timers() -> None:
    dispatcher = Dispatcher(VirtualClock())
    ran: list[str] = []

    def first() -> None:
        ran.append("first")
        dispatcher.after(0.0, lambda: ran.append("timer"))
        dispatcher.post(lambda: ran.append("second"))

    dispatcher.post(first)
    dispatcher.pump()
    assert sorted(ran) == ["first", "second", "timer"]
    assert ran[0] == "first"


def test_a_job_that_raises_is_logged_and_the_next_one_runs(caplog: pytest.LogCaptureFixture) -> None:
    dispatcher = Dispatcher(VirtualClock())
    ran: list[str] = []
    dispatcher.post(lambda: ran.append(str(1 // 0)))
    dispatcher.post(lambda: ran.append("next"))
    with caplog.at_level(logging.ERROR):
        dispatcher.pump()
    assert ran == ["next"]
    assert "ZeroDivisionError" in caplog.text


def test_with_a_thread_all_that_was_posted_before_the_stop_has_run_and_timers_wake_it() -> None:
    dispatcher = Dispatcher(RealClock())
    woken = threading.Event()
    ran: list[int] = []
    dispatcher.start()
    dispatcher.post(lambda: dispatcher.after(0.01, woken.set))
    assert woken.wait(PATIENCE_S)
    for number in range(100):
        dispatcher.post(lambda number=number: ran.append(number))
    dispatcher.stop()
    dispatcher.stop()
    assert ran == list(range(100))
