"""Whether a stage's process is well, by its beats: it goes on, stays silent for a moment, or has to be ended.

Time counts only as far as it was watched, and as far as the machine let the process run: neither a machine that is busy
with something else nor an app that is stopped itself makes a stage hang. Knows no process, no clock and no stage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from predtui.runtime.hosts.beats import Beat

Health = Literal["well", "silent", "slow", "dead"]
""""slow" and "dead" are to be ended: one for a step that takes too long, though its heart beats."""

TICK_S = 0.25
"""Between two looks. More than twice as much was not watched."""
QUIET_S = 0.75
"""Without a sign of life, after which the process itself is looked at."""
SILENT_S = 1.5
DEAD_S = 4.5
"""Without a beat, where the process computes nothing that could keep it from beating."""
STEP_S = 5.0
"""For a step, beyond what is known of how long one takes."""
LONGEST = 2.0
"""How much longer a step may take than the longest so far."""
OPENING_S, LOADING_S = 60.0, 1800.0
"""For a step of an opening that uses no processor, and of one that does."""
LARGE_S = 30.0
"""A stage that takes long to open is large: its steps may take as long as the longest of its opening, up to this."""
BUSY = 0.2
"""Part of the time in which a process that computes uses a processor."""


@dataclass(frozen=True, slots=True)
class Vitals:
    """Of a process: whether it was stopped, or cannot run for a while (a disk, a debugger); seconds for which it has
    used a processor, and for which its threads have waited for one."""

    state: Literal["running", "stopped", "held"] = "running"
    used: float = 0.0
    waited: float = 0.0


class Pulse:
    """Fed a beat at every look. ``patience`` multiplies how long a step may take: it is for a stage that was ended
    before for taking too long, and may just be slow."""

    def __init__(self, now: float, patience: float = 1.0) -> None:
        self._patience = patience
        self._seen = now
        self._beat = Beat()
        self._vitals: Vitals | None = None
        self._silence = self._stillness = 0.0
        """Seconds without a beat, and without a step ..."""
        self._used = 0.0
        """... and those for which the process has computed since the last step."""
        self._opening = self._longest = 0.0

    def look(self, now: float, beat: Beat, vitals: Callable[[], Vitals]) -> Health:
        """``vitals`` is asked only while nothing is heard."""
        passed, stopped = self._passed(now, vitals), bool(self._vitals and self._vitals.state == "stopped")
        self._silence += passed
        self._stillness += passed
        if beat.count != self._beat.count:
            self._silence, stopped = 0.0, False
        if (beat.steps, beat.doing) != (self._beat.steps, self._beat.doing):
            self._stepped()
        self._beat = beat
        return max(self._by_beats(stopped), self._by_steps(), key=_ORDER.index)

    def _passed(self, now: float, ask: Callable[[], Vitals]) -> float:
        """Seconds since the last look that count."""
        passed, self._seen = min(now - self._seen, 2 * TICK_S), now
        if max(self._silence, 0.0 if self._beat.doing == "idle" else self._stillness) < QUIET_S:
            self._vitals = None
            return passed
        before, self._vitals = self._vitals, ask()
        if self._vitals.state == "held":
            return 0.0
        if before is not None:
            self._used += self._vitals.used - before.used
            passed -= max(0.0, self._vitals.waited - before.waited)
        return max(0.0, passed)

    def _stepped(self) -> None:
        if self._beat.doing == "opening":
            self._opening = min(max(self._opening, self._stillness), LARGE_S)
        elif self._beat.doing == "working":
            self._longest = max(self._longest, self._stillness)
        self._stillness = self._used = 0.0

    def _by_beats(self, stopped: bool) -> Health:
        """A process that computes may keep its own beats back."""
        begun = self._beat.count > 0 or stopped
        computes = self._used > BUSY * self._silence and not stopped and self._beat.doing != "idle"
        if not begun or computes:
            return "well"
        return "dead" if self._silence >= DEAD_S else "silent" if self._silence >= SILENT_S else "well"

    def _by_steps(self) -> Health:
        match self._beat.doing:
            case "opening":
                computes = self._used > BUSY * self._stillness
                return "slow" if self._stillness >= (LOADING_S if computes else OPENING_S) else "well"
            case "working":
                known = max(self._beat.allowed, LONGEST * self._longest)
                if self._stillness >= self._patience * (STEP_S + max(known, self._opening)):
                    return "slow"
                return "silent" if self._stillness >= self._patience * (SILENT_S + known) else "well"
        return "well"


_ORDER: tuple[Health, ...] = ("well", "silent", "slow", "dead")
