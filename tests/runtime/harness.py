"""A pipeline without threads: time moves, and stages work, only when a test says so."""

from __future__ import annotations

from predtui.clock import VirtualClock
from predtui.runtime.hosts.base import Emit
from predtui.runtime.hosts.inline import InlineHost
from predtui.runtime.manner import Manner
from predtui.runtime.pipeline import Pipeline
from predtui.runtime.typing import Typed
from predtui.state import events as ev
from predtui.state.stage import StageSpec
from predtui.state.turn import Turn


class Harness:
    """A pipeline with inline hosts: time moves, and stages work, only when told."""

    def __init__(
        self,
        specs: list[StageSpec],
        hands_free: bool = False,
        lagging: bool = False,
        pause_s: float = 0.0,
        idle_s: float = 0.0,
    ) -> None:
        """``lagging``: what stages yield is under way until ``arrive``, as between processes."""
        self.lagging = lagging
        self.under_way: list[tuple[str, Emit, ev.Event]] = []
        self.clock = VirtualClock(100.0)
        self.hosts: dict[str, InlineHost] = {}
        self.events: list[ev.Event] = []
        self.pipeline = Pipeline(
            specs,
            self.clock,
            make_host=self._host,
            manner=Manner(hands_free=hands_free, pause_s=pause_s),
            background=False,
            idle_s=idle_s,
        )
        self.pipeline.subscribe(self.events.append)
        self.pipeline.start()
        self.settle()

    def _host(self, spec: StageSpec, emit: Emit) -> InlineHost:
        def send(event: ev.Event) -> None:
            self.under_way.append((spec.name, emit, event))
            if not self.lagging:
                self.arrive(spec.name)

        self.hosts[spec.name] = InlineHost(spec, send, self.clock)
        return self.hosts[spec.name]

    def arrive(self, name: str = "") -> None:
        """What ``name`` (or everybody) has yielded reaches the pipeline, in order."""
        arrived = [sent for sent in self.under_way if not name or sent[0] == name]
        self.under_way = [sent for sent in self.under_way if name and sent[0] != name]
        for _, emit, event in arrived:
            emit(event)

    def settle(self) -> None:
        """Until nobody has anything to do at this time."""
        self.arrive()
        self.pipeline.pump()
        while [name for name, host in list(self.hosts.items()) if host.step()]:
            self.arrive()
            self.pipeline.pump()

    def until(self, kind: type[ev.Event], count: int = 1) -> None:
        """Step until ``count`` events of ``kind`` have been seen."""
        for _ in range(10_000):
            self.pipeline.pump()
            if len(self.of(kind)) >= count:
                return
            for host in list(self.hosts.values()):
                host.step()
        raise AssertionError(f"no {kind.__name__}")

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.settle()

    def type(self, text: str, final: bool = False) -> None:
        self.pipeline.type_line(Typed(text, final=final))
        self.settle()

    def of(self, kind: type[ev.Event]) -> list[ev.Event]:
        return [event for event in self.events if type(event) is kind]

    def notices(self) -> list[str]:
        return [e.text for e in self.events if isinstance(e, ev.Notice) and not e.text.startswith("heard:")]

    def heard(self) -> str:
        """What the loudspeaker was given, letter by letter."""
        texts = [e.text for e in self.events if isinstance(e, ev.Notice)]
        return "".join(text.removeprefix("heard:") for text in texts if text.startswith("heard:"))

    @property
    def turn(self) -> Turn:
        return self.pipeline.state

    def kill(self, name: str) -> None:
        """What a process host does when its process has died."""
        host = self.hosts[name]
        host.stop()
        host._emit(ev.StageStatus(stage=name, state="restarting", message=f"{name} was killed by SIGKILL."))
        self.arrive(name)
        self.pipeline.pump()
