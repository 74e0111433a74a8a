"""The talk button. It reports when one talks, and does nothing about it."""

from __future__ import annotations

import math

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from predtui.clock import Clock
from predtui.tui.gate import assemble
from predtui.tui.messages import TalkHeld
from predtui.tui.push_to_talk import PushToTalk, Way

POLL = 0.05
"""Seconds between two looks at a held talk key."""
GRACE = 1.0
"""Seconds the engine has to begin listening, before the talk key counts as released."""


class TalkButton(Widget):
    """Talks while it is held with the mouse, or by the talk key, whose presses ``press`` takes."""

    talking: reactive[bool] = reactive(False)
    way: reactive[Way] = reactive("tap")
    """How the talk key's end is told here."""

    def __init__(self, clock: Clock, disabled: bool = False) -> None:
        super().__init__(id="talk", disabled=disabled)
        self._clock = clock
        self._key = PushToTalk()
        self._began, self._refused = 0.0, -math.inf
        """When talking was begun or ended last, and when the key was pressed last where there is no microphone."""
        self._listening = False
        self._deaf = False
        self._poll: Timer | None = None

    def on_mount(self) -> None:
        self._poll = self.set_interval(POLL, self.poll, pause=True)

    def render(self) -> Content:
        return assemble("● TALKING" if self.talking else "● TALK")

    def press(self, ago: float = 0.0) -> None:
        """The talk key arrived, so many seconds ago."""
        self._turn_to(self._key.press(self._clock.now() - ago))

    def release(self, ago: float = 0.0) -> None:
        """The talk key was let go, in a terminal that tells."""
        self._turn_to(self._key.release(self._clock.now() - ago))

    def lose(self) -> None:
        """The terminal's window is left, and with it a key that is held."""
        self._turn_to(self._key.lose(self._clock.now()))

    def tell_releases(self) -> None:
        """``release`` will be called."""
        self._key.releases = True
        self.way = self._key.way

    def poll(self) -> None:
        """Releases once the key's repeats have stopped, or if nobody listens (any more)."""
        now = self._clock.now()
        self._turn_to(self._key.poll(now))
        if self.talking and not self._listening and now - self._began > GRACE:
            self._show(False)

    def follow(self, listening: bool, deaf: bool = False) -> None:
        """``listening``: whether the engine listens; if it stops by itself, so does the button. ``deaf``: it has no
        microphone, so that asking it to listen only makes it say so, and look for one."""
        self._listening, self._deaf = listening, deaf

    def on_mouse_down(self, event: events.MouseDown) -> None:
        event.stop()
        if not self.talking:
            self.capture_mouse()
            self._turn_to(True)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        event.stop()
        if self.app.mouse_captured is self:
            self.release_mouse()
        if self.talking:
            self._turn_to(False)

    def _turn_to(self, on: bool | None) -> None:
        self.way = self._key.way
        if on is None or self.disabled:
            return
        if on and self._deaf:
            self._key.set(False)
            again, self._refused = self._clock.now() - self._refused < GRACE, self._clock.now()
            if again:  # a held key repeats
                return
        else:
            self._show(on)
        self.post_message(TalkHeld(on))

    def _show(self, on: bool) -> None:
        self._key.set(on, self._key.held and on)
        self.talking = on
        self.set_class(on, "-talking")
        self._began = self._clock.now()
        if self._poll:
            (self._poll.resume if on else self._poll.pause)()
