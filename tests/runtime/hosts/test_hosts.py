"""Hosts with a thread or a process of their own: alike in all that a stage and the bus see of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from predtui.clock import RealClock
from predtui.runtime.hosts.base import Host
from predtui.runtime.hosts.process import ProcessHost
from predtui.runtime.hosts.thread import ThreadHost
from predtui.state import events as ev
from predtui.state.stage import StageSpec
from tests.runtime.hosts.collector import PATIENCE_S, Collector

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
