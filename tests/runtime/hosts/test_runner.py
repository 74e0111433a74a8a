"""What a stage yields is stamped and timed; seen through the host that does nothing on its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from predtui.clock import VirtualClock
from predtui.runtime.hosts.inbox import Inbox
from predtui.runtime.hosts.inline import InlineHost
from predtui.runtime.hosts.runner import StageRunner
from predtui.state import events as ev
from predtui.state.stage import StageContext, StageSpec
from tests.runtime.hosts.collector import Collector
from tests.toys import Toy


def inline(stage: Toy, clock: VirtualClock | None = None) -> tuple[InlineHost, Collector]:
    out = Collector()
    host = InlineHost(StageSpec("toy", "tests.toys:given", stage), out.append, clock or VirtualClock())
    host.start()
    host.run()
    return host, out


def test_yielded_events_carry_the_generation_handled_and_the_time() -> None:
    clock = VirtualClock(5.0)

    def handle(event: ev.Event, context: StageContext) -> Iterator[ev.Event]:
        clock.advance(0.1)
        yield ev.Candidate(new="a")
        yield ev.Candidate(turn=9, revision=9, time=1.5, new="own stamp")

    host, out = inline(Toy(handler=handle), clock)
    host.send(ev.Transcript(turn=2, revision=3))
    host.run()
    first, second = (e for e in out if isinstance(e, ev.Candidate))
    assert (first.generation, first.time) == ((2, 3), 5.1)
    assert (second.generation, second.time) == ((9, 9), 1.5)


def test_work_is_timed_in_pieces_and_tiny_work_leaves_no_bar() -> None:
    clock = VirtualClock(1.0)

    def handle(event: ev.Event, context: StageContext) -> Iterator[ev.Event]:
        if event.revision == 2:
            return
        for _ in range(4):
            clock.advance(0.2)
            yield ev.Candidate()

    host, out = inline(Toy(handler=handle), clock)
    host.send(ev.Transcript(turn=1, revision=1))
    host.run()
    host.send(ev.Transcript(turn=1, revision=2))
    host.run()
    bars = [e for e in out if isinstance(e, ev.Work)]
    assert {(b.stage, b.label) for b in bars} == {("toy", "Transcript")}
    assert len(bars) == 2
    assert bars[0].start == 1.0
    assert bars[0].end == bars[1].start
    assert bars[-1].end == pytest.approx(1.8)


def test_neighbouring_short_work_is_one_bar() -> None:
    clock = VirtualClock()

    def handle(event: ev.Event, context: StageContext) -> Iterator[ev.Event]:
        clock.advance(0.0004)
        return iter(())

    host, out = inline(Toy(accepts=(ev.AudioFrame,), handler=handle), clock)
    for _ in range(5):
        host.send(ev.AudioFrame(turn=1))
    host.run()
    (bar,) = (e for e in out if isinstance(e, ev.Work))
    assert bar.end - bar.start == pytest.approx(0.002)


def test_a_full_queue_is_noticed_by_the_host_and_events_sent_before_it_opened_are_kept() -> None:
    out = Collector()
    seen: list[ev.Event] = []

    def handle(event: ev.Event, context: StageContext) -> Iterator[ev.Event]:
        seen.append(event)
        return iter(())

    stage = Toy(accepts=(ev.AudioFrame, ev.Endpoint), handler=handle)
    host = InlineHost(StageSpec("toy", "tests.toys:given", stage), out.append, VirtualClock(), frame_capacity=10)
    host.start()
    host.send(ev.Configure())
    for n in range(100):
        host.send(ev.AudioFrame(turn=1, position=n))
    host.send(ev.Endpoint(turn=1, revision=1))
    host.run()
    (notice,) = (e for e in out if isinstance(e, ev.Notice))
    assert "toy cannot keep up" in notice.text
    assert [e.position for e in seen if isinstance(e, ev.AudioFrame)] == list(range(90, 100))
    assert isinstance(seen[-1], ev.Endpoint)
    assert len(seen) == 11


def test_a_stage_that_opens_hears_that_it_is_closed() -> None:
    inbox, seen = Inbox(), list[bool]()

    class Opening(Toy):
        def open(self, context: StageContext) -> Iterator[ev.Event]:
            seen.append(context.closing())
            inbox.put(ev.TurnStarted(turn=1))
            seen.append(context.closing())
            inbox.close()
            seen.append(context.closing())
            yield from ()

    runner = StageRunner(StageSpec("toy", "tests.toys:given", Opening()), VirtualClock(), inbox)
    list(runner.open(lambda accepts: None))
    assert seen == [False, False, True]
