"""Waits for the last words of an utterance as long as the recogniser gets on with them, and refuses the input where it
cannot be heard to its end: what was heard may not be all, and half a prompt is not what was asked.

Must not know the screen, nor what any stage does inside.
"""

from __future__ import annotations

import math
from functools import partial

from predtui.runtime.bus import Bus
from predtui.runtime.stages import Stages
from predtui.state import events as ev

PATIENCE_S = 60.0
"""How long a recogniser may do nothing that can be seen while its last words are awaited. One that hangs is restarted
long before; this is for one that works on something of which nobody knows yet how long it takes here, ..."""
ROUNDS = 4
"""... and as many times as long as its longest piece of work, on a machine where that is more."""
LOOK_S = 1.0
"""Between two looks at one that is being started."""
GAP_S = 1.0
"""Sound that may be missing when somebody ends what they say: a word is not lost with less."""


class Hearing:
    """For the dispatcher's thread alone. ``react`` follows every event."""

    def __init__(self, bus: Bus, stages: Stages) -> None:
        self._bus, self._stages = bus, stages
        self._sign, self._longest = 0.0, 0.0
        """When the recogniser was last seen to get on, and the seconds of its longest piece of work."""
        self._sound, self._delay = 0.0, math.inf
        """Seconds of the turn's sound that have come, and the least by which some came later than it was made."""

    def react(self, event: ev.Event) -> None:
        match event:
            case ev.StageStatus(stage="asr" | "mic", state="failed"):
                if not self._stages.returns(event.stage):
                    self._failed(event.stage)
            case ev.Work(stage="asr"):
                self._longest = max(self._longest, event.end - event.start)
                self._got_on()
            case ev.StageStatus(stage="asr") | ev.Transcript():
                self._got_on()
            case ev.StageStatus(stage="mic", state="restarting") if self._bus.state.source == "voice":
                self._missed("The microphone was away while you spoke")  # one that reads a file goes on where it was
            case ev.Listen():
                self._sound, self._delay = 0.0, math.inf
            case ev.AudioFrame():
                self._sound = (event.position + len(event.pcm) // 2) / event.rate
                self._delay = min(self._delay, self._bus.clock.now() - self._sound)
            case ev.Endpoint(reason="lost"):
                self._refuse("The sound ended too early")
            case ev.Endpoint() if self._bus.state.source == "voice" and self._missing() > GAP_S:
                self._refuse("The microphone did not hear all")
            case ev.Endpoint():
                self._got_on()
                self._await(event.turn)

    def _missing(self) -> float:
        """Seconds of sound that should have come by now: a microphone that hung has missed them."""
        return self._bus.clock.now() - self._sound - self._delay

    def _got_on(self) -> None:
        self._sign = self._bus.clock.now()

    def _await(self, turn: int) -> None:
        """Look again when patience ends, unless the words have come."""
        state = self._bus.state
        if state.number != turn or state.phase != "recognising":
            return
        left = self._sign + max(PATIENCE_S, ROUNDS * self._longest) - self._bus.clock.now()
        if left > 0 or self._returning():
            self._bus.dispatcher.after(left if left > 0 else LOOK_S, partial(self._await, turn))
        else:
            self._refuse("The recogniser gave no answer")

    def _returning(self) -> bool:
        """Whether the recogniser is being started: how long that may take is not decided here."""
        status = self._bus.state.stages.get("asr")
        return status is not None and status.state in ("starting", "restarting")

    def _failed(self, stage: str) -> None:
        """Nothing will be heard any more, or what is missing will not come."""
        if stage == "mic":
            self._missed("The microphone has failed")
        elif self._bus.state.phase in ("listening", "recognising"):
            self._refuse("The recogniser has failed")

    def _missed(self, why: str) -> None:
        """Sound that was made meanwhile is gone."""
        if self._bus.state.phase == "listening":
            self._refuse(why)

    def _refuse(self, why: str) -> None:
        heard = self._bus.state.transcript.text
        self._bus.publish(ev.Interrupt(reason="not heard to its end"), bump=1)
        self._bus.publish(ev.Refused(heard=heard))
        words = f"what it heard may not be all, and is not answered: “{heard}”. Finish it by typing" if heard else ""
        self._bus.notify(f"{why}; {words or 'nothing was heard. Type'}, or say it again.", "warning")
