"""The parts of the runtime put together: bus, turn gate, hearing, stages, baseline, monitor; and a person's commands.

A command is a job for the dispatcher, on whose thread all parts work. Must not know the screen, nor any stage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from predtui.clock import Clock, RealClock
from predtui.foreign import lines_without_controls
from predtui.runtime.barge_in import BargeIn
from predtui.runtime.baseline import IDLE_S, BaselineSchedule
from predtui.runtime.bus import Bus, Listener
from predtui.runtime.energy import EnergyMeter
from predtui.runtime.gate import TurnGate
from predtui.runtime.hearing import Hearing
from predtui.runtime.hosts.base import HostFactory
from predtui.runtime.hosts.process import process_host
from predtui.runtime.manner import Manner
from predtui.runtime.monitor import Monitor
from predtui.runtime.stages import Stages
from predtui.runtime.ticking import Ticker
from predtui.runtime.turn_taking import TurnTaking
from predtui.runtime.typing import Typed
from predtui.state import events as ev
from predtui.state.exchange import Exchange
from predtui.state.stage import StageSpec
from predtui.state.turn import Turn
from predtui.system.energy import Rapl


class Pipeline:
    """Runs turns. Commands return at once and may come from any thread; listeners are called on the dispatcher's."""

    def __init__(
        self,
        specs: Sequence[StageSpec],
        clock: Clock | None = None,
        log_path: Path | None = None,
        make_host: HostFactory | None = None,
        *,
        manner: Manner | None = None,
        monitored: bool = True,
        background: bool = True,
        idle_s: float = IDLE_S,
    ) -> None:
        """``make_host`` defaults to a process a stage. Without ``background`` there is no thread: call ``pump``.
        ``idle_s`` as the schedule of the baseline takes it."""
        self._clock: Clock = clock or RealClock()
        self._background = background
        self._bus = Bus(self._clock)
        self._stages = Stages(self._bus, specs, make_host or process_host(self._clock, log_path), log_path)
        self._manner = manner or Manner()
        self._gate = TurnGate(self._bus, self._stages, self._manner)
        self._hearing = Hearing(self._bus, self._stages)
        self._over = BargeIn(self._bus, self._gate.talk_over, self._manner.language)
        self._taking, self._schedule = TurnTaking(self._bus), BaselineSchedule(self._bus, idle_s)
        reactions = (
            self._gate.react, self._hearing.react, self._hear_over, self._take_turns, self._measure, self._stages.react,
            *((Ticker(self._bus).react, EnergyMeter(self._bus, Rapl()).react) if monitored else ()),
        )  # fmt: skip
        self._bus.connect(self._stages.deliver, *reactions)
        self._monitor = Monitor(self.publish, self.pids) if monitored and background else None

    @property
    def state(self) -> Turn:
        """After the last event that the listeners were notified of."""
        return self._bus.state

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener`` with every event from now on; the returned function ends that."""
        return self._bus.subscribe(listener)

    def pids(self) -> dict[str, int | None]:
        """The process of each stage; None while it has none."""
        return self._stages.pids()

    def start(self) -> None:
        """Returns at once; StageStatus events come as stages come up."""
        self._stages.start()
        if self._background:
            self._bus.dispatcher.start()
        if self._monitor:
            self._monitor.start()

    def stop(self) -> None:
        """Ends every stage, by force after a second or two. Harmless twice."""
        if self._monitor:
            self._monitor.stop()
        self._bus.dispatcher.stop()
        self._stages.stop()

    def pump(self) -> None:
        """Dispatch all that waits or is due, on this thread. Only without ``background``."""
        self._bus.dispatcher.pump()

    def publish(self, event: ev.Event) -> None:
        """Put an event on the bus: a notice, usage, or a replayed event."""
        self._bus.dispatcher.post(partial(self._bus.dispatch, event))

    def type_line(self, typed: Typed) -> None:
        """The input line as it stands after a key, at ``typed.time``, or now. The first text opens a turn, silencing a
        reply that is being heard; behind a reply that is still awaited, the line waits."""
        typed = replace(typed, text=lines_without_controls(typed.text), time=typed.time or self._clock.now())
        self._bus.dispatcher.post(partial(self._gate.type, typed))

    def talk(self, on: bool) -> None:
        """Open the microphone for a new turn, silencing a reply; or end what is being said."""
        self._bus.dispatcher.post(partial(self._gate.talk, on, self._clock.now()))

    def listen_file(self, path: Path | str, hands_free: bool = False) -> None:
        """A new turn out of a sound file, played in real time; ``hands_free``: as one that a microphone hears."""
        self._bus.dispatcher.post(partial(self._gate.listen, "file", str(path), self._clock.now(), hands_free))

    def silence(self) -> None:
        """Stop listening, and whatever is being said or prepared as a reply. Typed text stays open."""
        self._bus.dispatcher.post(partial(self._gate.silence, self._clock.now()))

    def resume(self, session: int = 0, exchanges: tuple[Exchange, ...] = ()) -> None:
        """Go on from ``exchanges``, kept as ``session``, as if they had just been; without any, begin anew."""
        self._bus.dispatcher.post(partial(self._gate.resume, session, exchanges, self._clock.now()))

    def watch(self, on: bool) -> None:
        """Sample how busy the machine is, as from the start, or not: nobody sees it."""
        if self._monitor:
            self._monitor.watch(on)

    def configure(self, verifier: str = "") -> None:
        """Treat the next prompts otherwise."""
        self._bus.dispatcher.post(lambda: self._bus.publish(ev.Configure(verifier=verifier)))

    def conduct(self, manner: Manner) -> None:
        """Begin and end turns otherwise from now on."""
        self._bus.dispatcher.post(partial(self._conduct, manner))

    def replace_stage(self, name: str, options: Any) -> None:
        """Run stage ``name`` with other options; where it cannot open with them, the former ones come back."""
        self._bus.dispatcher.post(partial(self._stages.replace, name, options))

    def restart_stage(self, name: str = "") -> None:
        """Start stage ``name`` anew, whatever it does; without a name, each that has failed."""
        self._bus.dispatcher.post(partial(self._stages.restart, name))

    def renew_stage(self, name: str) -> None:
        """Run stage ``name`` anew with the options it has, as soon as no turn is under way."""
        self._bus.dispatcher.post(partial(self._stages.renew, name))

    def describe_stage(self, name: str, message: str) -> None:
        """What is said of stage ``name`` while it is ready."""
        self._bus.dispatcher.post(partial(self._stages.describe, name, message))

    def _conduct(self, manner: Manner) -> None:
        self._manner, self._over.language = manner, manner.language
        self._gate.conduct(manner)

    def _hear_over(self, event: ev.Event) -> None:
        if self._manner.hands_free and self._manner.barge_in:
            self._over.react(event)

    def _take_turns(self, event: ev.Event) -> None:
        if not self._manner.by_silence:
            self._taking.react(event)

    def _measure(self, event: ev.Event) -> None:
        if self._manner.measures:
            self._schedule.react(event)
