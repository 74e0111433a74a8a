"""One key that both toggles and holds, whatever the terminal tells of it.

A terminal that tells of releases tells all: what is let go at once was a tap, which toggles. Elsewhere a second press
soon after the first is the terminal repeating, so the key is held, and the release is where the repeats stop. Where
nothing repeats, taps are left. Pure: time comes in as seconds. Must not know of Textual.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

TAP = 0.25
"""Seconds after which a key that is let go was held, and not tapped."""
REPEAT_DELAY = 0.97
"""Seconds within which a held key's first repeat arrives (most terminals: 0.25 to 0.66), with a stutter on top."""
RELEASE_AFTER = 0.6
"""Seconds without a repeat that mean released, before the terminal's own rhythm is known."""
RELEASE_LEAST = 0.4
"""The least wait once the rhythm is known: a terminal that stutters for 0.3 s must not cut the talker off."""
STUTTER = 0.3
"""Seconds that repeats may fail to come in a slow rhythm, beyond two of its beats."""
ANEW = 0.25
"""Seconds that a press must come after a repeat, or after a release, to begin anew."""

Way = Literal["release", "repeat", "tap"]
"""How the end of talking is told: by the key's release, by repeats that stop, or by another tap."""


@dataclass(slots=True)
class PushToTalk:
    """``press``, ``release``, ``lose`` and ``poll`` return True to start talking, False to stop, None for no change."""

    talking: bool = False
    held: bool = False
    releases: bool = False
    """Whether the terminal tells of them."""
    _down: bool = False
    _last: float = float("-inf")
    _released: float = float("-inf")
    _gaps: deque[float] = field(default_factory=lambda: deque(maxlen=9))

    @property
    def way(self) -> Way:
        return "release" if self.releases else "repeat" if self._gaps else "tap"

    def press(self, now: float) -> bool | None:
        """The key arrived, by finger or, where releases are not told, by repeat."""
        since, self._last = now - self._last, now
        if self.releases and self._down:  # pressed twice and never let go: it does not tell, whatever it said
            self.releases = False
        self._down = True
        if not self.talking:
            return self._begin(since, now)
        if not self.releases and self.held:
            self._gaps.append(since)
        elif not self.releases and since <= REPEAT_DELAY:
            self.held = True
        else:
            self.talking = self.held = False
            return False
        return None

    def _begin(self, since: float, now: float) -> bool | None:
        if not self.releases and min(since, now - self._released) < ANEW:
            return None
        self.talking, self.held = True, False
        return True

    def release(self, now: float) -> bool | None:
        """The terminal tells that the key was let go."""
        self.releases = True
        if not self._down:
            return None
        self._down = False
        if not self.talking or now - self._last < TAP:
            return None
        self.talking = self.held = False
        return False

    def lose(self, now: float) -> bool | None:
        """The terminal's window is no longer the one that gets keys, nor their releases."""
        return self.release(now) if self.releases else None

    def poll(self, now: float) -> bool | None:
        """Asked several times a second while talking."""
        if self.releases or not (self.talking and self.held) or now - self._last < self._wait():
            return None
        self.talking = self.held = False
        self._released = now
        return False

    def _wait(self) -> float:
        return max(RELEASE_LEAST, STUTTER + 2 * median(self._gaps)) if self._gaps else RELEASE_AFTER

    def set(self, talking: bool, held: bool = False) -> None:
        """Talking was started or stopped by something else: the mouse, or an engine that heard the end."""
        self.talking, self.held = talking, held
