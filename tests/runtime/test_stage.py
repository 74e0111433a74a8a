"""Hosts: what a stage yields is stamped and timed, queues coalesce, failures become statuses."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from predtui.clock import RealClock, VirtualClock
from predtui.runtime.hosts.base import Host
from predtui.runtime.hosts.inbox import Inbox
from predtui.runtime.hosts.inline import InlineHost
from predtui.runtime.hosts.process import ProcessHost
from predtui.runtime.hosts.thread import ThreadHost
from predtui.state import events as ev
from predtui.state.stage import StageContext, StageSpec
from tests.toys import Toy

PATIENCE_S = 20.0


class Collector(list[ev.Event]):
    """What a host emitted; ``wait`` until it holds what is asked for."""

    def wait(self, wanted: Callable[[ev.Event], bool], after: int = 0) -> ev.Event:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for event in list(self)[after:]:
                if wanted(event):
                    return event
            time.sleep(0.005)
        raise AssertionError(f"not among {self!r}")

    def status(self, state: str, after: int = 0) -> ev.StageStatus:
        found = self.wait(lambda e: isinstance(e, ev.StageStatus) and e.state == state, after)
        assert isinstance(found, ev.StageStatus)
        return found

    def candidate(self, text: str) -> ev.Event:
        return self.wait(lambda e: isinstance(e, ev.Candidate) and e.new == text)


def inline(stage: Toy, clock: VirtualClock | None = None) -> tuple[InlineHost, Collector]:
    out = Collector()
    host = InlineHost(StageSpec("toy", "tests.toys:given", stage), out.append, clock or VirtualClock())
    host.start()
    host.run()
    return host, out


Made = tuple[Host, Collector]


@pytest.fixture(params=["thread", "process"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Made]]:
    hosts: list[Host] = []

    def build(factory: str) -> Made:
        out = Collector()
        spec = StageSpec("toy", f"tests.toys:{factory}")
        host: Host
        if request.param == "thread":
            host = ThreadHost(spec, out.append, RealClock())
        else:
            host = ProcessHost(spec, out.append, RealClock(), tmp_path / "log")
        hosts.append(host)
        host.start()
        return host, out

    yield build
    for host in hosts:
        host.stop()
        assert not host.alive


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


def test_newer_state_replaces_waiting_state_and_commits_stay() -> None:
    inbox = Inbox()
    sent = [
        ev.Transcript(turn=1, revision=1, stable="a"),
        ev.Configure(turn=1, revision=1, verifier="x"),
        ev.Transcript(turn=1, revision=2, stable="b"),
        ev.TurnStarted(turn=2),
        ev.Transcript(turn=2, revision=1, stable="c"),
        ev.Transcript(turn=2, revision=2, stable="d", final=True),
    ]
    for event in sent:
        inbox.put(event)
    assert [inbox.get(0) for _ in range(4)] == [sent[1], sent[3], sent[5], None]


def test_a_full_queue_drops_the_oldest_sound_and_says_so_once() -> None:
    inbox = Inbox(frame_capacity=3)
    told = [inbox.put(ev.AudioFrame(turn=1, position=n)) for n in range(6)]
    inbox.put(ev.Endpoint(turn=1, revision=1))
    assert told == [False, False, False, True, False, False]
    got = [inbox.get(0) for _ in range(4)]
    assert [e.position for e in got if isinstance(e, ev.AudioFrame)] == [3, 4, 5]
    assert isinstance(got[-1], ev.Endpoint)
    assert [inbox.put(ev.AudioFrame(turn=1)) for _ in range(4)] == [False, False, False, True]


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


def test_an_endpoint_overtakes_listening_but_not_the_sound_before_it() -> None:
    inbox = Inbox()
    inbox.put(ev.Endpoint(turn=1, revision=4))
    assert inbox.stale(ev.Listen(turn=1))
    assert not inbox.stale(ev.AudioFrame(turn=1))
    inbox.put(ev.Interrupt(turn=1, revision=5))
    assert inbox.stale(ev.AudioFrame(turn=1))


def test_ten_thousand_events_arrive(make: Callable[[str], Made]) -> None:
    host, out = make("counter")
    out.status("ready")
    for n in range(2_000):
        host.send(ev.AudioFrame(turn=1, position=n, pcm=b"\0" * 640))
    for _ in range(8_000):
        host.send(ev.Configure(turn=1))
    host.send(ev.Endpoint(turn=1, revision=1))
    answer = out.wait(lambda e: isinstance(e, ev.Candidate))
    assert isinstance(answer, ev.Candidate)
    assert (answer.tokens, answer.new) == (2_000, "8001")


def test_an_exception_is_a_line_and_the_next_success_is_ready(make: Callable[[str], Made]) -> None:
    host, out = make("echo")
    out.status("ready")
    host.send(ev.Transcript(turn=1, revision=1, stable="raise"))
    failed = out.status("failed")
    assert "ValueError: a bad word" in failed.message
    assert "\n" not in failed.message
    host.send(ev.Transcript(turn=1, revision=2, stable="refuse"))
    out.wait(lambda e: isinstance(e, ev.StageStatus) and e.message == "the server is away. Start it.")
    host.send(ev.Transcript(turn=1, revision=3, stable="well"))
    out.candidate("well")
    out.status("ready", after=out.index(failed))


def test_what_a_stage_lacks_is_repeated_whenever_it_is_ready(make: Callable[[str], Made]) -> None:
    host, out = make("deaf")
    ready = out.status("ready")
    assert (ready.lacks, ready.message, ready.progress) == ("microphone", "none found", -1.0)
    host.send(ev.Transcript(turn=1, revision=1, stable="found"))
    out.wait(lambda e: isinstance(e, ev.StageStatus) and e.state == "ready" and not e.lacks)
    host.send(ev.Transcript(turn=1, revision=2, stable="refuse"))
    failed = out.status("failed")
    host.send(ev.Transcript(turn=1, revision=3, stable="well"))
    assert out.status("ready", after=out.index(failed)).lacks == ""


def test_a_stage_that_cannot_open_fails_once(make: Callable[[str], Made]) -> None:
    host, out = make("broken")
    assert out.wait(lambda e: isinstance(e, ev.StageStatus) and e.progress == 0.5)
    assert out.status("failed").message == "no model at /nowhere. Give --model."
    deadline = time.monotonic() + PATIENCE_S
    while host.alive and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not host.alive
    assert [e.state for e in out if isinstance(e, ev.StageStatus)] == ["starting", "starting", "failed"]


def test_an_unknown_factory_is_a_clear_failure(make: Callable[[str], Made]) -> None:
    _, out = make("nonsense")
    assert "cannot load tests.toys:nonsense" in out.status("failed").message


def test_newer_work_stops_older(make: Callable[[str], Made]) -> None:
    host, out = make("echo")
    host.send(ev.Transcript(turn=1, revision=1, stable="work", final=True))
    out.candidate("step 3")
    host.send(ev.Transcript(turn=1, revision=2, stable="next"))
    out.candidate("next")
    assert out.index(out.candidate("stopped")) < out.index(out.candidate("next"))
    assert out.candidate("stopped").generation == (1, 1)


def test_engines_write_to_the_log_not_to_the_screen(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = Collector()
    log = tmp_path / "log"
    host = ProcessHost(StageSpec("toy", "tests.toys:echo"), out.append, RealClock(), log)
    host.start()
    host.send(ev.Transcript(turn=1, revision=1, stable="print"))
    out.candidate("print")
    host.stop()
    assert capfd.readouterr() == ("", "")
    written = log.read_text()
    assert all(line in written for line in ("from C out", "from C err", "from python"))


def test_a_stage_process_imports_neither_the_screen_nor_the_pipeline() -> None:
    out = Collector()
    host = ProcessHost(StageSpec("toy", "tests.toys:echo"), out.append, RealClock())
    host.start()
    host.send(ev.Transcript(turn=1, revision=1, stable="modules"))
    listing = out.wait(lambda e: isinstance(e, ev.Candidate))
    host.stop()
    assert isinstance(listing, ev.Candidate)
    assert "predtui.runtime.hosts.child" in listing.prompt.split()
    assert not {"textual", "predtui.runtime.bus", "numpy"} & set(listing.prompt.split())


@pytest.mark.parametrize("how", ["-m", "-c", "file"])
def test_processes_start_whatever_the_app_was_started_as(how: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import queue\n"
        "from predtui.clock import RealClock\n"
        "from predtui.state.events import Candidate, Transcript\n"
        "from predtui.runtime.hosts.process import ProcessHost\n"
        "from predtui.state.stage import StageSpec\n"
        "out = queue.Queue()\n"
        "host = ProcessHost(StageSpec('toy', 'tests.toys:echo'), out.put, RealClock())\n"
        "host.start()\n"
        "host.send(Transcript(turn=1, revision=1, stable='hello'))\n"
        "while not isinstance(event := out.get(timeout=20), Candidate):\n"
        "    pass\n"
        "print(event.new)\n"
        "host.stop()\n"
    )
    command = {"-m": ["-m", "program"], "-c": ["-c", program.read_text()], "file": [str(program)]}[how]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(tmp_path)])}
    done = subprocess.run(
        [sys.executable, *command],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "hello\n"
