"""When the baseline of a turn is asked for: once, while nobody needs the machine. Must not know how it is measured."""

from __future__ import annotations

from predtui.runtime.bus import Bus
from predtui.state import events as ev

IDLE_S = 2.0
"""After a reply, without a key or a word, before the baseline is measured: it takes as long as plain decoding does."""


class BaselineSchedule:
    """For the dispatcher's thread alone. ``react`` follows every event."""

    def __init__(self, bus: Bus, idle_s: float) -> None:
        """``idle_s``: seconds without input before it is asked for."""
        self._bus, self._idle_s = bus, idle_s
        self._idle_from = 0.0
        self._asked = 0
        """The last turn whose baseline was asked for."""

    def react(self, event: ev.Event) -> None:
        match event:
            case ev.ReplyFinished() | ev.Playback(state="finished"):
                self._later()
            case ev.StageStatus(stage="tts" | "player", state="failed"):
                self._later()

    def _later(self) -> None:
        self._idle_from = self._bus.clock.now() + self._idle_s
        self._bus.dispatcher.after(self._idle_s, self._ask)

    def _ask(self) -> None:
        """For the baseline of the current turn, where nothing of it is under way."""
        if self._bus.clock.now() < self._idle_from:
            return
        turn = self._bus.state
        reply = turn.reply
        ended = turn.phase == "done" and not turn.interrupted and self._asked != turn.number
        if ended and reply and reply.text:
            self._asked = turn.number
            self._bus.publish(ev.MeasureBaseline(prompt=reply.prompt, reply=reply.text, history=turn.request))
