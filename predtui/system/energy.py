"""The energy that the processors have used, by their own counters (RAPL, in Linux's powercap). Must not know what for.

What the counters tell, and when they begin anew: Documentation/power/powercap/powercap.rst of Linux. Many systems let
only root read them, since a program's secrets can be guessed from them (the attack PLATYPUS).
"""

from __future__ import annotations

import os
from pathlib import Path

POWERCAP = Path("/sys/class/powercap")


class Counter:
    """One processor's."""

    def __init__(self, zone: Path) -> None:
        """``zone``: its folder. Raises OSError and ValueError where it tells nothing."""
        self._file, self._joules = zone / "energy_uj", 0.0
        self._range = int((zone / "max_energy_range_uj").read_text())
        self._before = int(self._file.read_text())

    def joules(self) -> float:
        """Since it was made; asked often enough, that is within minutes, however often the counter begins anew. Raises
        OSError and ValueError where it tells nothing any more."""
        now = int(self._file.read_text())
        used, self._before = now - self._before, now
        self._joules += (used if used >= 0 else used + self._range) / 1e6
        return self._joules


class Rapl:
    """The counters of all processors: all of them may be read, or none is."""

    def __init__(self, folder: Path = POWERCAP) -> None:
        try:
            self._counters = [] if unreadable(folder) else [Counter(zone) for zone in _zones(folder)]
        except (OSError, ValueError):
            self._counters = []

    def joules(self) -> float | None:
        """Of all of them together, since this was made; None where nothing tells."""
        try:
            return sum(counter.joules() for counter in self._counters) if self._counters else None
        except (OSError, ValueError):
            return None


def unreadable(folder: Path = POWERCAP) -> tuple[Path, ...]:
    """The counters that are there and may not be read."""
    files = (zone / "energy_uj" for zone in _zones(folder))
    return tuple(file for file in files if file.exists() and not os.access(file, os.R_OK))


def _zones(folder: Path) -> list[Path]:
    """A folder each processor: not those of its parts, which are in it, nor the whole machine's, in which it is."""
    zones = (zone for zone in sorted(folder.glob("intel-rapl:*")) if zone.name.count(":") == 1)
    return [zone for zone in zones if _name(zone) != "psys"]


def _name(zone: Path) -> str:
    try:
        return (zone / "name").read_text().strip()
    except OSError:
        return ""
