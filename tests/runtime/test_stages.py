"""Stages come and go, and events reach those that are there to take them."""

from __future__ import annotations

from predtui.clock import VirtualClock
from predtui.runtime.bus import Bus
from predtui.runtime.hosts.base import Emit
from predtui.runtime.hosts.inline import InlineHost
from predtui.runtime.stages import STAGES, Stages
from predtui.state import events as ev
from predtui.state.stage import StageSpec
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
