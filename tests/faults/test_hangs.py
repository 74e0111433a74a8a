"""Processes that are stopped, or stuck: told of, ended and started again, and the turn goes on as if nothing was."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from predtui.clock import RealClock
from predtui.runtime.hosts import pulse
from predtui.runtime.hosts.process import ProcessHost, Shared
from predtui.runtime.manner import Manner
from predtui.runtime.pipeline import Pipeline
from predtui.runtime.stages import STAGES
from predtui.runtime.typing import Typed
from predtui.state import events as ev
from predtui.state.stage import StageSpec
from tests.cast import Pace, cast
from tests.runtime.hosts.collector import Collector

LIMIT_S = 60.0
"""For what takes seconds where the machine does nothing else."""
Live = tuple[Pipeline, list[ev.Event]]
MOMENTS = {
    "mic": ev.AudioFrame,
    "asr": ev.Transcript,
    "llm": ev.Candidate,
    "tts": ev.SpeechChunk,
    "player": ev.Playback,
}
"""What a stage has just said when it is stopped."""


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test has less time than a person."""
    for name, seconds in {"QUIET_S": 0.25, "SILENT_S": 0.5, "DEAD_S": 1.0, "STEP_S": 1.0, "LARGE_S": 0.0}.items():
        monkeypatch.setattr(pulse, name, seconds)


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[tuple[ProcessHost, Collector]]:
    out = Collector()
    spec = StageSpec("toy", "tests.toys:echo")
    host = ProcessHost(spec, out.append, RealClock(), tmp_path / "log", Shared.made())
    host.start()
    out.status("ready")
    yield host, out
    host.stop()


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    specs = cast(Pace(words=("a", "b", "c"), word_s=0.05, step_s=0.01))
    pipeline = Pipeline(specs, log_path=tmp_path / "log", manner=Manner(measures=False), monitored=False)
    events: list[ev.Event] = []
    pipeline.subscribe(events.append)
    pipeline.start()
    wait(lambda: all(ready(pipeline, name) for name in STAGES))
    yield pipeline, events
    pipeline.stop()


def wait(over: object) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not over():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ready(pipeline: Pipeline, name: str) -> bool:
    status = pipeline.state.stages.get(name)
    return status is not None and status.state == "ready"


def states(events: list[ev.Event], name: str) -> list[str]:
    return [event.state for event in events if isinstance(event, ev.StageStatus) and event.stage == name]


def stop(pid: int | None) -> None:
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)


@pytest.mark.parametrize("word", ["hang", "spin", "seize"])
def test_a_stage_that_is_stuck_is_told_of_and_ended(word: str, echo: tuple[ProcessHost, Collector]) -> None:
    host, out = echo
    host.send(ev.Transcript(turn=1, revision=1, stable=word))
    silent = out.status("silent")
    assert "toy" not in silent.message, "its line begins with its name and its state"
    assert "respond" not in silent.message
    assert out.status("restarting").message == "toy did not respond and was ended."


def test_a_stage_that_goes_on_is_as_it_was(
    echo: tuple[ProcessHost, Collector], monkeypatch: pytest.MonkeyPatch
) -> None:
    host, out = echo
    monkeypatch.setattr(pulse, "DEAD_S", LIMIT_S)
    stop(host.pid)
    out.status("silent")
    assert host.pid is not None
    os.kill(host.pid, signal.SIGCONT)
    wait(lambda: host.status.state == "ready")
    assert states(list(out), "toy") == ["starting", "ready", "silent", "ready"]


def heard(events: list[ev.Event]) -> str:
    texts = [event.text for event in events if isinstance(event, ev.Notice)]
    return "".join(text.removeprefix("heard:") for text in texts if text.startswith("heard:"))


def test_all_stopped_while_idle(live: Live) -> None:
    pipeline, events = live
    for pid in pipeline.pids().values():
        stop(pid)
    pipeline.type_line(Typed("hello", final=True))
    wait(lambda: pipeline.state.phase == "done")
    assert pipeline.state.reply_text == "You said hello. Over."
    assert heard(events).split() == ["You", "said", "hello.", "Over."]


@pytest.mark.parametrize("spoken", [False, True])
def test_each_stopped_once_on_its_way_through_a_turn(spoken: bool, live: Live) -> None:
    pipeline, events = live
    left = dict(MOMENTS) if spoken else {name: MOMENTS[name] for name in ("llm", "tts", "player")}
    done: list[str] = []

    def stop_next(event: ev.Event) -> None:
        for name, moment in list(left.items()):
            if isinstance(event, moment) and all(states(events, other).count("ready") > 1 for other in done):
                del left[name]
                done.append(name)
                stop(pipeline.pids()[name])

    pipeline.subscribe(stop_next)
    if spoken:
        pipeline.listen_file("a b c")
    else:
        pipeline.type_line(Typed("a b c", final=True))
    wait(lambda: pipeline.state.phase == "done")
    assert left == {}
    assert pipeline.state.prompt == "a b c"
    assert pipeline.state.reply_text == "You said a b c. Over."
    assert all("restarting" in states(events, name) for name in done)


def test_an_escape_and_another_turn_do_not_wait_for_a_stage_that_hangs(live: Live) -> None:
    pipeline, _ = live
    stop(pipeline.pids()["llm"])
    pipeline.type_line(Typed("hello", final=True))
    wait(lambda: pipeline.state.phase == "replying")
    pipeline.silence()
    wait(lambda: pipeline.state.phase == "done")
    pipeline.type_line(Typed("again", final=True))
    wait(lambda: pipeline.state.reply_text == "You said again. Over.")
