"""Tells the time while a turn is under way, for whoever shows it. Must not know who does, nor what it is about."""

from __future__ import annotations

from predtui.runtime.bus import Bus
from predtui.state import events as ev

PERIOD_S = 1.0


class Ticker:
    """For the dispatcher's thread alone. ``react`` follows every event."""

    def __init__(self, bus: Bus) -> None:
        self._bus, self._waits = bus, False

    def react(self, _: ev.Event) -> None:
        if self._bus.state.busy and not self._waits:
            self._waits = True
            self._bus.dispatcher.after(PERIOD_S, self._tick)

    def _tick(self) -> None:
        self._waits = False
        if self._bus.state.busy:
            self._bus.publish(ev.Tick())  # to which ``react`` reacts
