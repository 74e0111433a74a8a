"""What a turn takes of the processors' energy, where their counters may be read. Must not know what is shown of it."""

from __future__ import annotations

from predtui.runtime.bus import Bus
from predtui.state import events as ev
from predtui.system.energy import Rapl


class EnergyMeter:
    """For the dispatcher's thread alone. ``react`` follows every event: the counters are read as a turn begins, and
    once it is over, its reply heard."""

    def __init__(self, bus: Bus, rapl: Rapl) -> None:
        self._bus, self._rapl = bus, rapl
        self._begun: float | None = None

    def react(self, event: ev.Event) -> None:
        if isinstance(event, ev.TurnStarted):
            self._begun = self._rapl.joules()
        elif self._begun is not None and not self._bus.state.busy:
            begun, self._begun = self._begun, None
            used = self._rapl.joules()
            if used is not None and self._bus.state.reply:
                self._bus.publish(ev.Energy(joules=used - begun))
