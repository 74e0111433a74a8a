"""What becomes of a stage that dies: started again, then in its safest way, then given up with all that was tried."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.runtime.build import stage_specs
from predtui.runtime.pipeline import Pipeline
from predtui.runtime.supervisor import DELAYS_S, Supervisor, given_up
from predtui.runtime.typing import Typed
from predtui.settings import LlmSettings, Settings
from predtui.state import events as ev
from predtui.state.stage import Fallback, StageContext, StageSpec
from predtui.system.exits import FAULTS, ending, signal_name
from tests.toys import Toy

PATIENCE_S = 60.0
Run = Callable[[str, Fallback | None], tuple[Pipeline, list[ev.Event]]]


def fails(options: object) -> Toy:
    """Options: "safest", or the name of a signal and when it comes: "SIGSEGV open"."""
    name, _, moment = str(options).partition(" ")

    def end() -> None:
        os.kill(os.getpid(), getattr(signal, name))
        time.sleep(PATIENCE_S)

    def opened(context: StageContext) -> Iterator[ev.Event]:
        if moment in ("open", "early"):
            end()
        yield ev.StageStatus(message=str(options), progress=1.0)

    def handle(event: ev.Event, context: StageContext) -> Iterator[ev.Event]:
        if moment == "work":
            end()
        yield ev.ReplyFinished(prompt="hello", text="hello")

    return Toy(handler=handle, opener=opened)


def belted(options: object) -> str:
    return "safest"


def unhelped(options: str) -> str:
    """A safest way that dies just so."""
    return options.replace("open", "early")


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made: list[Pipeline] = []

    def start(options: str, fallback: Fallback | None) -> tuple[Pipeline, list[ev.Event]]:
        spec = StageSpec("llm", "tests.runtime.test_supervisor:fails", options, fallback)
        pipeline = Pipeline([spec], log_path=tmp_path / "log", monitored=False)
        made.append(pipeline)
        events: list[ev.Event] = []
        pipeline.subscribe(events.append)
        pipeline.start()
        return pipeline, events

    yield start
    for pipeline in made:
        pipeline.stop()


def state(pipeline: Pipeline, wanted: str) -> ev.StageStatus:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        status = pipeline.state.stages.get("llm")
        if status and status.state == wanted:
            return status
        assert time.monotonic() < deadline, f"never {wanted}: {status}"
        time.sleep(0.01)


def notices(events: list[ev.Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, ev.Notice)]


BELTED = Fallback(belted, "with its belt on", "Choose another horse.")
UNHELPED = Fallback(unhelped, "with its belt on", "Choose another horse.")


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT"])
def test_a_stage_that_crashes_when_it_opens_runs_in_its_safest_way_and_says_so(name: str, run: Run) -> None:
    pipeline, events = run(f"{name} open", BELTED)
    assert state(pipeline, "ready").message == "safest"
    assert notices(events) == [f"llm was killed by {name}. It is started again with its belt on."]
    deaths = [e.signal for e in events if isinstance(e, ev.StageStatus) and e.state == "restarting"]
    assert deaths == [name]


def test_a_stage_that_crashes_in_its_first_work_twice_answers_in_its_safest_way(run: Run) -> None:
    pipeline, events = run("SIGSEGV work", BELTED)
    state(pipeline, "ready")
    pipeline.type_line(Typed("hello", final=True))
    deadline = time.monotonic() + PATIENCE_S
    while not any(isinstance(event, ev.ReplyFinished) for event in events):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert [text for text in notices(events) if "belt" in text] != []
    assert [e.signal for e in events if isinstance(e, ev.StageStatus) and e.signal] == ["SIGSEGV"] * 2


def test_one_that_is_killed_from_outside_is_not_slowed_down(run: Run) -> None:
    pipeline, events = run("SIGKILL open", BELTED)
    told = state(pipeline, "failed").message
    assert "was killed by SIGKILL (memory may have run out). Given up after 3 restarts. Choose another" in told
    assert not [text for text in notices(events) if "belt" in text]


def test_giving_up_names_the_signal_what_was_tried_and_what_to_try(run: Run, tmp_path: Path) -> None:
    pipeline, events = run("SIGSEGV open", UNHELPED)
    message = state(pipeline, "failed").message
    assert message == (
        "llm was killed by SIGSEGV. Given up after 3 restarts, the last with its belt on. Choose another horse. "
        f"The log is {tmp_path / 'log'}."
    )
    assert len([text for text in notices(events) if "belt" in text]) == 1


@pytest.mark.parametrize("signal", [*FAULTS, "SIGKILL", ""])
def test_what_was_compiled_for_another_processor_is_to_be_compiled_again(signal: str) -> None:
    death = ev.StageStatus(stage="llm", message="llm died.", signal=signal)
    belted = StageSpec(
        "llm", "x:y", options="", fallback=Fallback(unhelped, "belted", "Choose another.", "Compile it again.")
    )
    message = given_up(belted, death, None)
    assert ("Compile it again." in message) is (signal == "SIGILL")
    assert ("Choose another." in message) is (signal != "SIGILL")
    for other in (None, Fallback(unhelped, "belted", "Choose another.")):
        assert "Choose another" in given_up(StageSpec("llm", "x:y", "", fallback=other), death, None)


def test_the_model_can_be_compiled_again() -> None:
    (spec,) = (spec for spec in stage_specs(Settings()) if spec.name == "llm")
    assert "--no-cache-dir" in given_up(spec, ev.StageStatus(stage="llm", signal="SIGILL"), None)


def test_another_choice_is_not_held_to_the_safest_way(run: Run) -> None:
    pipeline, _ = run("SIGSEGV open", BELTED)
    assert state(pipeline, "ready").message == "safest"
    pipeline.replace_stage("llm", "SIGSEGV never")
    deadline = time.monotonic() + PATIENCE_S
    while state(pipeline, "ready").message != "SIGSEGV never":
        assert time.monotonic() < deadline
        time.sleep(0.01)


deaths = st.lists(
    st.tuples(st.floats(0, 40), st.sampled_from([*FAULTS, "SIGKILL", "SIGTERM", ""]), st.booleans(), st.booleans()),
    max_size=12,
)


@given(deaths)
def test_restarts_are_few_a_turn_and_safest_only_after_faults(history: list[tuple[float, str, bool, bool]]) -> None:
    clock = VirtualClock()
    supervisor = Supervisor(clock)
    times: list[float] = []
    faults: list[float] = []
    for pause, name, ready, turn in history:
        clock.advance(pause)
        if ready:
            supervisor.ready("llm")
        if turn:
            supervisor.turn()
            times = [] if ready else times
        recent = [time for time in times if clock.now() - time < 30]
        restart = supervisor.died("llm", name)
        assert (restart is None) == (len(recent) >= len(DELAYS_S))
        if restart:
            assert restart.delay == DELAYS_S[len(recent)]
            earlier = any(clock.now() - time < 30 for time in faults)
            assert restart.safest == (name in FAULTS and (earlier or not ready))
        times.append(clock.now())
        faults += [clock.now()] * (name in FAULTS)


def test_a_new_choice_starts_with_a_clean_record() -> None:
    supervisor = Supervisor(VirtualClock())
    for _ in range(4):
        supervisor.died("llm", "SIGKILL")
    supervisor.forget("llm")
    restart = supervisor.died("llm", "SIGKILL")
    assert restart is not None
    assert not restart.safest


def test_the_model_has_a_safest_way_whatever_its_settings() -> None:
    settings = Settings(llm=LlmSettings(model="x.gguf", threads=4, weights="repacked"))
    (spec,) = [spec for spec in stage_specs(settings) if spec.name == "llm"]
    safest = spec.safest()
    assert safest.options == LlmSettings(model="x.gguf", threads=4, weights="safest", device="cpu", gpu_layers="0")
    assert safest.safest() == safest
    assert spec.fallback is not None
    assert "doctor --model" in spec.fallback.remedy


@pytest.mark.parametrize("status", [0, 1, 255])
def test_an_exit_status_is_no_signal(status: int) -> None:
    assert signal_name(status) == ""
    assert ending(status) == f"ended with exit status {status}"


@pytest.mark.parametrize(("status", "name"), [(-11, "SIGSEGV"), (-6, "SIGABRT"), (-63, "signal 63")])
def test_a_signal_is_named(status: int, name: str) -> None:
    assert signal_name(status) == name
    assert ending(status) == f"was killed by {name}"


def test_who_is_killed_from_outside_may_have_taken_too_much_memory() -> None:
    assert ending(-9) == "was killed by SIGKILL (memory may have run out)"
