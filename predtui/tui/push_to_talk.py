"""One key that both toggles and holds, in terminals that repeat a held key but never report its release.

A tap toggles. A second press soon after the first is the terminal repeating, so the key is held, and the release is
where the repeats stop. Pure: time comes in as seconds. Must not know of Textual.
"""

from __future__ import annotations

from dataclasses import dataclass

REPEAT_DELAY = 0.75
"""Seconds within which a held key's first repeat arrives (most terminals: 0.25 to 0.66)."""
RELEASE_AFTER = 0.6
"""Seconds without a repeat that mean released, before the terminal's own rhythm is known."""
RELEASE_LEAST = 0.25
"""The least wait once the rhythm is known: a stutter of the terminal must not cut the talker off."""


@dataclass(slots=True)
class PushToTalk:
    """``press`` and ``poll`` return True to start talking, False to stop, None for no change."""

    talking: bool = False
    held: bool = False
    _last: float = float("-inf")
    _interval: float | None = None
    _released: float = float("-inf")

    def press(self, now: float) -> bool | None:
        """The key arrived, by finger or by repeat."""
        since, self._last = now - self._last, now
        if not self.talking:
            if now - self._released < RELEASE_LEAST:
                return None
            self.talking, self.held, self._interval = True, False, None
            return True
        if self.held:
            self._interval = since
        elif since <= REPEAT_DELAY:
            self.held = True
        else:
            self.talking = False
            return False
        return None

    def poll(self, now: float) -> bool | None:
        """Asked several times a second while talking."""
        if not (self.talking and self.held):
            return None
        wait = RELEASE_AFTER if self._interval is None else min(RELEASE_AFTER, max(RELEASE_LEAST, 4 * self._interval))
        if now - self._last < wait:
            return None
        self.talking = self.held = False
        self._released = now
        return False

    def set(self, talking: bool, held: bool = False) -> None:
        """Talking was started or stopped by something else: the mouse, or an engine that heard the end."""
        self.talking, self.held = talking, held
