"""Stages come and go, and events reach those that are there to take them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from predtui.clock import VirtualClock
from predtui.runtime.bus import Bus
from predtui.runtime.hosts.base import Emit
from predtui.runtime.hosts.inline import InlineHost
from predtui.runtime.stages import STAGES, Stages
from predtui.settings import LlmSettings
from predtui.state import events as ev
from predtui.state.stage import Fallback, StageSpec
from tests.cast import Pace, cast


class Recording(InlineHost):
    """Keeps what it is sent."""

    def __init__(self, spec: StageSpec, emit: Emit) -> None:
        super().__init__(spec, emit, VirtualClock())
        self.sent: list[ev.Event] = []
        self.emit = emit

    def send(self, event: ev.Event) -> None:
        self.sent.append(event)


class Running:
    """Stages on a bus without a thread, all ready."""

    def __init__(self, *names: str) -> None:
        self.clock = VirtualClock(10.0)
        self.bus = Bus(self.clock)
        self.hosts: dict[str, Recording] = {}
        self.stages = Stages(self.bus, cast(Pace(), *names), self._host, None)
        self.bus.connect(self.stages.deliver, self.stages.react)
        self.stages.start()
        self.settle()

    def _host(self, spec: StageSpec, emit: Emit) -> Recording:
        self.hosts[spec.name] = Recording(spec, emit)
        return self.hosts[spec.name]

    def settle(self) -> None:
        for host in list(self.hosts.values()):
            host.run()
        self.bus.dispatcher.pump()

    def sent(self, name: str) -> list[type[ev.Event]]:
        return [type(event) for event in self.hosts[name].sent if not isinstance(event, ev.StageStatus)]

    def die(self, name: str) -> None:
        self.hosts[name].stop()
        self.hosts[name].emit(ev.StageStatus(stage=name, state="restarting", message=f"{name} died."))
        self.bus.dispatcher.pump()


def test_a_stage_is_given_what_it_takes_and_nothing_of_its_own() -> None:
    running = Running()
    running.bus.enter(ev.TurnStarted(turn=1, source="voice"))
    running.bus.dispatch(ev.AudioFrame(turn=1, pcm=b"ab"), "mic")
    running.bus.dispatch(ev.Endpoint(turn=1), "mic")
    assert running.sent("asr") == [ev.TurnStarted, ev.AudioFrame, ev.Endpoint]
    assert running.sent("mic") == []
    assert running.sent("llm") == [ev.TurnStarted]


def test_stages_that_are_missing_are_told_of_and_not_usable() -> None:
    running = Running("llm")
    stopped = {name for name, status in running.bus.state.stages.items() if status.state == "stopped"}
    assert stopped == set(STAGES) - {"llm"}
    assert [name for name in STAGES if running.stages.usable(name)] == ["llm"]


def test_what_comes_while_a_stage_is_down_is_in_the_log_it_is_given_once() -> None:
    running = Running("llm", "tts")
    running.bus.enter(ev.TurnStarted(turn=1))
    running.die("llm")
    running.bus.dispatch(ev.Transcript(turn=1, stable="one", final=True))
    assert running.sent("llm") == [ev.TurnStarted]
    running.clock.advance(1.0)
    running.bus.dispatcher.pump()
    running.settle()
    assert running.sent("llm") == [ev.TurnStarted, ev.TurnStarted, ev.Transcript]
    running.bus.dispatch(ev.Transcript(turn=1, stable="one", final=True))
    assert running.sent("llm").count(ev.Transcript) == 1


def test_an_event_of_a_host_that_was_replaced_reaches_nobody() -> None:
    running = Running("llm", "tts")
    old = running.hosts["llm"]
    running.stages.replace("llm", Pace(step_s=1.0))
    assert running.stages.returns("llm")
    running.settle()
    assert not running.stages.returns("llm")
    seen: list[ev.Event] = []
    running.bus.subscribe(seen.append)
    old.emit(ev.Notice(text="from the grave"))
    running.bus.dispatcher.pump()
    assert seen == []


def test_a_stage_is_renewed_only_once_no_turn_is_under_way() -> None:
    running = Running("llm")
    running.bus.enter(ev.TurnStarted(turn=1))
    old = running.hosts["llm"]
    running.stages.renew("llm")
    running.clock.advance(1.0)
    running.bus.dispatcher.pump()
    assert running.hosts["llm"] is old
    running.bus.dispatch(ev.Interrupt(turn=1))
    running.clock.advance(1.0)
    running.bus.dispatcher.pump()
    assert running.hosts["llm"] is not old
    assert running.hosts["llm"].spec == old.spec


def test_a_stage_is_described_while_it_is_ready_and_only_anew() -> None:
    running = Running("llm")
    told: list[ev.Event] = []
    running.bus.subscribe(told.append)
    for _ in range(2):
        running.stages.describe("llm", "compiling 10%")
    assert [event.message for event in told if isinstance(event, ev.StageStatus)] == ["compiling 10%"]
    running.die("llm")
    running.stages.describe("llm", "compiling 20%")
    assert running.bus.state.stages["llm"].message == "llm died."


class Fails(Recording):
    """Opens only once it may."""

    may = False

    def start(self) -> None:
        if self.may:
            super().start()
        else:
            self.emit(ev.StageStatus(stage=self.spec.name, state="failed", message="no."))


class Failing(Running):
    def _host(self, spec: StageSpec, emit: Emit) -> Recording:
        self.hosts[spec.name] = (Fails if spec.name == "llm" else Recording)(spec, emit)
        return self.hosts[spec.name]

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.bus.dispatcher.pump()
        self.settle()


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    monkeypatch.setattr(Fails, "may", False)
    return Failing("llm", "tts")


def test_a_stage_that_is_out_is_tried_again_by_itself_after_a_while_and_then_less_often(failing: Failing) -> None:
    tries = []
    while failing.clock.now() < 4000.0:
        before = failing.hosts["llm"]
        failing.wait(1.0)
        if failing.hosts["llm"] is not before:
            tries.append(failing.clock.now() - 10.0)
    gaps = [round(after - before) for before, after in pairwise([0.0, *tries])]
    assert gaps[:7] == [30, 60, 120, 240, 480, 600, 600]
    assert failing.hosts["tts"].alive
    Fails.may = True
    failing.wait(600.0)
    assert failing.stages.usable("llm")
    assert failing.bus.state.stages["llm"].state == "ready"


def test_it_is_not_tried_again_while_something_is_being_said(failing: Failing) -> None:
    failing.bus.enter(ev.TurnStarted(turn=1))
    before = failing.hosts["llm"]
    failing.wait(100.0)
    assert failing.hosts["llm"] is before
    failing.bus.dispatch(ev.Interrupt(turn=1))
    failing.wait(1.0)
    assert failing.hosts["llm"] is not before


@pytest.mark.parametrize("name", ["", "llm"])
def test_a_person_tries_a_stage_again_that_has_failed(name: str, failing: Failing) -> None:
    Fails.may = True
    tts = failing.hosts["tts"]
    failing.stages.restart(name)
    failing.wait(0.0)
    assert failing.stages.usable("llm")
    assert failing.hosts["tts"] is tts


def test_the_same_choice_as_before_tries_again(failing: Failing) -> None:
    Fails.may = True
    failing.stages.replace("llm", failing.hosts["llm"].spec.options)
    failing.wait(0.0)
    assert failing.bus.state.stages["llm"].state == "ready"


def test_a_stage_that_works_is_restarted_only_by_its_name() -> None:
    running = Running("llm")
    before = running.hosts["llm"]
    running.bus.enter(ev.TurnStarted(turn=1))
    running.stages.restart()
    assert running.hosts["llm"] is before
    running.stages.restart("nobody")
    assert [notice.text for notice in running.bus.state.notices] == [
        "No stage has failed.",
        "There is no stage nobody to restart.",
    ]
    running.stages.restart("llm")
    running.settle()
    assert running.hosts["llm"] is not before
    assert running.sent("llm") == [ev.TurnStarted]


def test_a_stage_given_up_in_its_safest_way_is_tried_again_as_it_was_chosen() -> None:
    clock = VirtualClock(10.0)
    bus, made = Bus(clock), []

    def host(spec: StageSpec, emit: Emit) -> Recording:
        made.append(Recording(spec, emit))
        return made[-1]

    fallback = Fallback(lambda options: replace(options, step_s=9.0), "slowly", "Choose another.")
    spec = StageSpec("llm", "tests.cast:llm", Pace(), fallback)
    stages = Stages(bus, [spec], host, None)
    bus.connect(stages.deliver, stages.react)
    stages.start()
    for _ in range(4):
        made[-1].stop()
        made[-1].emit(ev.StageStatus(stage="llm", state="restarting", message="llm died.", signal="SIGSEGV"))
        bus.dispatcher.pump()
    assert not stages.usable("llm")
    assert made[-1].spec.options == Pace(step_s=9.0)
    clock.advance(30.0)
    bus.dispatcher.pump()
    made[-1].run()
    bus.dispatcher.pump()
    assert made[-1].spec == spec
    assert stages.usable("llm")


def test_a_stage_with_other_options_has_the_threads_of_those() -> None:
    running = Running("llm")
    running.stages.replace("llm", LlmSettings(threads=3))
    assert running.hosts["llm"].spec.threads == 3
    running.stages.replace("llm", LlmSettings())
    assert running.hosts["llm"].spec.threads == 0
