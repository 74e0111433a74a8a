"""Talking over a reply, hands-free: it plays softly at once, stands still once somebody really speaks, and ends when
they want to say something. A cough or an "mm-hm" lets it go on.

Must not know sound, nor what any stage does inside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from predtui.runtime.backchannels import only_backchannels
from predtui.runtime.bus import Bus
from predtui.state import events as ev

REAL_S = 0.3
"""Seconds of speech that are more than a cough, so that the reply stands still."""
ALONE_S = 0.7
"""Of speech, before a single word counts that may still become an "okay", unless a pause of ``PAUSE_S`` follows it."""
PAUSE_S = 0.25
LONG_S = 1.2
"""Of speech that nobody only listening goes on for, whatever its words."""
COUGH_S, AGAIN_S = 0.3, 0.6
"""Of quiet, after which a reply that was soft, or stood still, goes on."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is made of a stretch of speech. ``level``: of the reply."""

    level: ev.Loudness = "full"
    interrupts: bool = False

    def after(self, speech: float, quiet: float, words: str, language: str) -> Judgement:
        """``speech``: seconds of it so far, ``quiet``: seconds since, ``words``: what was recognised by now."""
        if self.interrupts or _interrupts(speech, quiet, words, language):
            return Judgement("held", True)
        if quiet >= (AGAIN_S if self.level == "held" else COUGH_S):
            return Judgement("full")
        if speech >= REAL_S:
            return Judgement("held")
        return self if self.level == "held" or not speech else Judgement("soft")


def _interrupts(speech: float, quiet: float, words: str, language: str) -> bool:
    if speech >= LONG_S:
        return True
    if speech < REAL_S or only_backchannels(words, language):
        return False
    return len(words.split()) > 1 or speech >= ALONE_S or quiet >= PAUSE_S


class BargeIn:
    """For the dispatcher's thread alone. ``react`` follows every event."""

    def __init__(self, bus: Bus, listen: Callable[[float], None], language: str = "en") -> None:
        """``listen``: open a turn that begins with what was said over the reply, which it silences; at a time."""
        self._bus, self._listen, self.language = bus, listen, language
        self._begin()

    def react(self, event: ev.Event) -> None:
        match event:
            case ev.Playback(state="started") if self._bus.state.source == "voice":
                self._begin()
                self._bus.publish(ev.Overhear())
            case ev.Overheard():
                if event.first:
                    self._words = ""
                self._speech, self._quiet = event.speech, event.quiet
                self._judge(event.time)
            case ev.OverheardWords():
                self._words = event.text
                self._judge(event.time)
            case ev.Interrupt() | ev.TurnStarted():
                self._begin()
            case ev.StageStatus(stage="mic" | "asr", state="failed" | "restarting" | "silent"):
                self._duck("full")
                self._begin()

    def _begin(self) -> None:
        """Nobody talks over anything."""
        self._judgement = Judgement()
        self._level: ev.Loudness = "full"
        self._speech = self._quiet = 0.0
        self._words = ""

    def _judge(self, time: float) -> None:
        if self._judgement.interrupts:
            return
        self._judgement = self._judgement.after(self._speech, self._quiet, self._words, self.language)
        if self._judgement.interrupts:
            self._listen(time)
        else:
            self._duck(self._judgement.level)

    def _duck(self, level: ev.Loudness) -> None:
        if level != self._level:
            self._level = level
            self._bus.publish(ev.Duck(level=level))
