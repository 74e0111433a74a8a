"""When a hands-free turn is over: after more silence the less likely the model has it that the user's turn ends there.

Must not know sound, words, or how a probability comes about.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from predtui.runtime.bus import Bus
from predtui.state import events as ev

UNKNOWN_S = 0.8
"""Seconds of silence that end a turn where no probability has come by then: the engine tells none, or is busy."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds of silence that end a turn: ``even`` where it is as likely over as not, ``steepness`` more for each
    factor of e by which the odds are less; at ``least``, where it is surely over, and at ``most``, in the middle of a
    sentence. Chosen of those that ``predtui bench endpoint --fit`` lists, on other turns than it reports."""

    even: float = 0.2
    steepness: float = 0.2
    least: float = 0.15
    most: float = 1.5

    def __call__(self, probability: float | None) -> float:
        """None: nobody knows."""
        if probability is None:
            return UNKNOWN_S
        inside = min(max(probability, _NEVER), 1 - _NEVER)
        seconds = self.even - self.steepness * math.log(inside / (1 - inside))
        return min(max(seconds, self.least), self.most)


NOBODY_S = 15.0
"""Seconds without a word after which nobody is listened to any more."""
_NEVER = 1e-9
"""Probability that is as good as none."""
patience = Patience()


class TurnTaking:
    """For the dispatcher's thread alone. ``react`` follows every event."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._listens = False
        self._silent: float | None = None
        """Since when nobody speaks; None while somebody does, or nobody has."""
        self._spoke = False
        """Whether somebody has, in this turn."""

    def react(self, event: ev.Event) -> None:
        match event:
            case ev.Listen():
                self._listens, self._silent, self._spoke = event.hands_free, None, False
                if event.hands_free:
                    self._bus.dispatcher.after(NOBODY_S, partial(self._nobody, event.turn))
            case ev.SpeechActivity():
                self._spoke = self._spoke or event.active
                self._silent = None if event.active else event.time - event.quiet
                self._look(self._silent)
            case ev.Transcript() | ev.EndOfTurn():
                self._look(self._silent)

    def _look(self, silent: float | None) -> None:
        """End the turn if the silence that began then has been long enough; else look again when it will be."""
        state = self._bus.state
        if not self._listens or silent is None or silent != self._silent or state.phase != "listening":
            return
        heard = not state.transcript.unfinished  # up to the pause
        left = silent + patience(state.end_of_turn if heard else None) - self._bus.clock.now()
        if left > 0:
            look, dispatcher = partial(self._look, silent), self._bus.dispatcher
            dispatcher.after(left, partial(dispatcher.post, look))  # behind speech that has come by then
        else:
            self._bus.publish(ev.Endpoint(reason="silence"), bump=1)

    def _nobody(self, turn: int) -> None:
        """Nobody has spoken since the turn began."""
        if self._bus.state.number == turn and self._bus.state.phase == "listening" and not self._spoke:
            self._bus.publish(ev.Interrupt(reason="nobody spoke"), bump=1)
            self._bus.notify(f"Nobody has spoken for {NOBODY_S:.0f} s. Push to talk listens again.", "information")
