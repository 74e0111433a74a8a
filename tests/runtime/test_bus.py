"""What enters a turn: never what comes too late or out of order, whatever stages yield; and all see the same. Jobs and
timers run in order, each once, and one that raises stops no other."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import RealClock, VirtualClock
from predtui.runtime.bus import Bus, Dispatcher, admit
from predtui.state import events as ev
from predtui.state.reducer import reduce
from predtui.state.turn import Turn

PATIENCE_S = 20.0
words = st.lists(st.sampled_from(["one", "two"]), max_size=3).map(" ".join)
stamps = {"turn": st.integers(0, 3), "revision": st.integers(0, 6)}
events = st.one_of(
    st.builds(ev.TurnStarted, source=st.sampled_from(["typed", "voice"]), turn=st.integers(1, 3)),
    st.builds(ev.Transcript, stable=words, tentative=words, final=st.booleans(), **stamps),
    st.builds(ev.ReplyCommitted, index=st.integers(0, 3), text=words, **stamps),
    st.builds(ev.ReplyFinished, text=words, **stamps),
    st.builds(ev.SpeechChunk, index=st.integers(0, 3), pcm=st.just(b"ab"), last=st.booleans(), **stamps),
    st.builds(ev.Candidate, new=words, **stamps),
    *(st.builds(kind, **stamps) for kind in (ev.Endpoint, ev.Interrupt, ev.AudioFrame, ev.SpeechEnd, ev.Verdict)),
    st.builds(ev.Playback, state=st.sampled_from(["started", "playing", "finished"]), **stamps),
    st.builds(ev.Notice, text=words),
)


def started(turn: Turn, event: ev.TurnStarted) -> Turn:
    return reduce(turn, replace(event, turn=turn.number + 1))


@given(st.lists(events, max_size=40))
def test_only_what_fits_the_turn_enters_it(log: list[ev.Event]) -> None:
    turn = Turn()
    for event in log:
        if isinstance(event, ev.TurnStarted):
            turn = started(turn, event)
            continue
        before, admitted = turn, admit(turn, event)
        if admitted is None:
            continue
        turn = reduce(turn, admitted)
        if isinstance(event, ev.Notice):
            assert admitted.turn == before.number
            continue
        assert event.turn == before.number, "nothing of another turn"
        assert turn.revision >= before.revision
        match admitted:
            case ev.ReplyCommitted():
                assert before.transcript.final
                assert turn.sentences == (*before.sentences, admitted.text)
            case ev.ReplyFinished():
                assert before.reply is None
                assert before.transcript.final
            case ev.SpeechChunk():
                assert admitted.index < len(before.sentences)
            case ev.Candidate() | ev.Verdict():
                assert before.phase != "done"
            case ev.AudioFrame():
                assert before.phase == "listening"
            case ev.Transcript() if before.source != "typed" and not admitted.final:
                assert admitted.stable.startswith(before.transcript.stable)
            case ev.Endpoint() | ev.Interrupt():
                assert admitted.revision == before.revision + 1, "it overtakes the work before it"


@pytest.mark.parametrize(("text", "grows"), [("one", False), ("one two", False), ("one two three", True)])
def test_a_transcript_is_a_new_revision_where_it_asks_for_another_reply(text: str, grows: bool) -> None:
    """The last word may still be growing; so the prompt of "one two" is "one"."""
    turn = reduce(Turn(), ev.TurnStarted(turn=1))
    turn = reduce(turn, ev.Transcript(turn=1, revision=1, stable="one", tentative="two"))
    admitted = admit(turn, ev.Transcript(turn=1, stable=text) if grows else replace(turn.transcript, time=2.0))
    assert admitted is not None
    assert admitted.revision == turn.revision + grows


def test_stages_have_an_event_before_the_listeners_and_the_reactions_come_last() -> None:
    bus, order = Bus(VirtualClock(5.0)), []
    bus.connect(
        lambda event, origin: order.append(f"stages {origin} {bus.state.number}"),
        lambda event: order.append(f"first {bus.state.number}"),
        lambda event: order.append(f"second {bus.state.number}"),
    )
    leave = bus.subscribe(lambda event: order.append(f"listener {bus.state.number} {event.time}"))
    bus.enter(ev.TurnStarted(turn=1), "somebody")
    assert order == ["stages somebody 0", "listener 1 5.0", "first 1", "second 1"]
    leave()
    order.clear()
    bus.publish(ev.Configure(verifier="top3"), time=7.0, bump=2)
    assert order == ["stages  1", "first 1", "second 1"]
    assert (bus.state.revision, bus.state.verifier) == (2, "top3")


def test_a_listener_that_raises_keeps_nobody_from_hearing() -> None:
    bus, heard = Bus(VirtualClock()), []

    def bad(event: ev.Event) -> None:
        raise ValueError

    bus.connect(lambda event, origin: None)
    bus.subscribe(bad)
    bus.subscribe(heard.append)
    bus.notify("hello", "information")
    assert [event.text for event in heard] == ["hello"]


def test_sound_that_has_come_before_reaches_nobody() -> None:
    bus, heard = Bus(VirtualClock()), []
    bus.subscribe(heard.append)
    bus.enter(ev.TurnStarted(turn=1, source="voice"))
    for _ in range(2):
        bus.dispatch(ev.AudioFrame(turn=1, pcm=b"ab"))
    assert len(heard) == 2


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
