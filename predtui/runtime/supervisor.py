"""When a stage that died is started again, how, and when no more. Must not know what the stage does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from predtui.clock import Clock
from predtui.state.events import StageStatus
from predtui.state.stage import Fallback, StageSpec
from predtui.system.exits import FAULTS, FOREIGN

DELAYS_S = (0.05, 0.5, 2.0)
WINDOW_S = 30.0
RETRY_S, LONGEST_RETRY_S = 30.0, 600.0
"""Until a stage that is out is tried again: at first, and after many times in vain."""


@dataclass(frozen=True, slots=True)
class Restart:
    """In how many seconds, and whether in the stage's safest way, where it has one."""

    delay: float
    safest: bool


class Supervisor:
    """At most three restarts of a stage within 30 seconds and one turn, each after a longer wait. One that crashes
    before it was ever ready, or twice within that time, would do so again: it is started in its safest way."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._deaths: dict[str, list[float]] = {}
        """When each stage died, in this turn if it ran when that began."""
        self._faults: dict[str, list[float]] = {}
        """When it crashed by itself, in whichever turn."""
        self._ready: set[str] = set()
        self._tried: dict[str, tuple[int, float]] = {}
        """How often a stage was tried again, and when that was decided last."""

    def ready(self, stage: str) -> None:
        self._ready.add(stage)

    def turn(self) -> None:
        """A new one begins. What runs by now has survived what it died of before: that is not held against it."""
        for stage in self._ready:
            self._deaths.pop(stage, None)

    def runs(self, stage: str) -> bool:
        """Whether it was ready since it was last started, so that it can go on after what it failed at."""
        return stage in self._ready

    def died(self, stage: str, signal: str = "") -> Restart | None:
        """Of the signal named so, or of its own will. None: give up."""
        deaths, faults = (self._recent(times.get(stage, [])) for times in (self._deaths, self._faults))
        again = stage not in self._ready or bool(faults)
        self._deaths[stage] = [*deaths, self._clock.now()]
        if signal in FAULTS:
            self._faults[stage] = [*faults, self._clock.now()]
        self._ready.discard(stage)
        if len(deaths) >= len(DELAYS_S):
            return None
        return Restart(DELAYS_S[len(deaths)], signal in FAULTS and again)

    def out(self, stage: str) -> float:
        """The stage runs no more: seconds until it is tried again, twice as many each time, unless that is long ago."""
        now = self._clock.now()
        times, last = self._tried.get(stage, (0, now))
        if now - last > 2 * LONGEST_RETRY_S:
            times = 0
        self._tried[stage] = times + 1, now
        return float(min(RETRY_S * 2**times, LONGEST_RETRY_S))

    def forget(self, stage: str) -> None:
        """It is started with a clean record."""
        self._deaths.pop(stage, None)
        self._faults.pop(stage, None)
        self._ready.discard(stage)

    def asked(self, stage: str) -> None:
        """A person wants it to run: how often it was tried in vain does not matter."""
        self._tried.pop(stage, None)

    def _recent(self, times: list[float]) -> list[float]:
        return [time for time in times if self._clock.now() - time < WINDOW_S]


def falls_back(spec: StageSpec, cause: str) -> str:
    """The notice for a stage that is started in its safest way after ``cause``."""
    return f"{cause} It is started again {spec.fallback.words}." if spec.fallback else cause


def given_up(spec: StageSpec, death: StageStatus, log: Path | None) -> str:
    """The message for a stage that died too often, at last as ``death`` says: what was tried, and what to try."""
    tried = f"Given up after {len(DELAYS_S)} restarts"
    if spec.fallback and spec == spec.safest():
        tried += f", the last {spec.fallback.words}"
    return f"{death.message} {tried}. {_remedy(spec.fallback, death.signal)}" + (f" The log is {log}." if log else "")


def _remedy(fallback: Fallback | None, signal: str) -> str:
    if fallback is None:
        return "Choose another, or start again."
    return fallback.recompile if fallback.recompile and signal == FOREIGN else fallback.remedy
