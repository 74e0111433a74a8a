"""When a stage that died is started again, and when no more. Must not know what the stage does."""

from __future__ import annotations

from predtui.clock import Clock

DELAYS_S = (0.05, 0.5, 2.0)
WINDOW_S = 30.0


class Supervisor:
    """At most three restarts of a stage within 30 seconds, each after a longer wait."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._deaths: dict[str, list[float]] = {}

    def died(self, stage: str) -> float | None:
        """Seconds to wait before the restart; None: give up."""
        now = self._clock.now()
        recent = [time for time in self._deaths.get(stage, []) if now - time < WINDOW_S]
        self._deaths[stage] = [*recent, now]
        return DELAYS_S[len(recent)] if len(recent) < len(DELAYS_S) else None

    def forget(self, stage: str) -> None:
        """A new choice starts with a clean record."""
        self._deaths.pop(stage, None)
