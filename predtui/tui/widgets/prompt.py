"""The input line and the talk button. They report what was done, and do nothing about it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.reactive import Reactive, reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from predtui.clock import Clock
from predtui.foreign import without_controls
from predtui.runtime.typing import Typed
from predtui.tui.driver import READ_ONLY
from predtui.tui.gate import assemble
from predtui.tui.messages import LineTyped, NoticeRaised, TalkHeld
from predtui.tui.push_to_talk import PushToTalk, Way
from predtui.tui.recall import Recall

PLACEHOLDER = "type here: every word is a partial prompt; Enter ends the turn"
POLL = 0.05
"""Seconds between two looks at a held talk key."""
GRACE = 1.0
"""Seconds the engine has to begin listening, before the talk key counts as released."""


class PromptLine(Input):
    """Posts the line after each edit and each move of the cursor, and when Enter ends it: immediately, in the order of
    the keys, so that what comes after Enter belongs to the next line."""

    virtual_size = Reactive(Size(0, 0))
    """Of all that is typed. Textual's asks for a new layout of the screen at each letter; this line stays one line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "older", "the prompt before", show=False),
        Binding("down", "newer", "the prompt after", show=False),
    ]

    def __init__(self, clock: Clock, read_only: bool = False, recall: Recall | None = None) -> None:
        super().__init__(
            placeholder=READ_ONLY if read_only else PLACEHOLDER,
            id="prompt",
            compact=True,
            select_on_focus=False,
            disabled=read_only,
        )
        self.recall = recall or Recall()
        self._clock = clock
        self._quiet = False
        self._posted = ("", 0)

    async def _on_key(self, event: events.Key) -> None:
        """A key that edits acts here and now: on its way up to a binding, the letters behind it would overtake it."""
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()

    def _on_paste(self, event: events.Paste) -> None:
        """All lines of it, as one prompt."""
        event.stop()
        event.prevent_default()
        lines = [line for line in map(str.strip, event.text.splitlines()) if line]
        self.replace(without_controls(" ".join(lines) if len(lines) > 1 else event.text.strip("\r\n")), *self.selection)
        if len(lines) > 1:
            self.post_message(NoticeRaised(f"{len(lines)} lines pasted as one prompt: Enter sends it"))

    def replace(self, text: str, start: int, end: int) -> None:
        """Every edit passes here, and sets the text before the cursor: the line is posted once both are right."""
        with self._quietly():
            super().replace(text, start, end)
        self._post_line()

    def watch_selection(self) -> None:
        self._post_line()

    async def action_submit(self) -> None:
        """Takes the line and empties it, before any later key is looked at."""
        text = self.value
        with self._quietly():
            self.value = ""
        self._posted = ("", 0)
        if text.strip():
            self.recall.add(text)
            self._post(Typed(text, final=True))

    def action_older(self) -> None:
        """As in a shell; nothing is sent before Enter."""
        self._put(self.recall.older(self.value))

    def action_newer(self) -> None:
        self._put(self.recall.newer(self.value))

    def take(self, words: str | None) -> None:
        """Puts ``words``, where there are any, in the place of the line."""
        self._put(words or None)

    def _put(self, text: str | None) -> None:
        if text is not None:
            self.replace(text, 0, len(self.value))

    def offer(self, words: str) -> None:
        """Puts ``words`` here to be gone on with, unless something is typed already. Nothing is posted before a key."""
        if words and not self.value:
            with self._quietly():
                self.value = f"{without_controls(words)} "
                self.cursor_position = len(self.value)
            self._posted = (self.value, self.cursor_position)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    def _post_line(self) -> None:
        line = (self.value, self.cursor_position)
        if not self._quiet and line != self._posted:
            self._posted = line
            self._post(Typed(*line))

    def _post(self, typed: Typed) -> None:
        """Straight to the app: a line must not wait for what is being drawn."""
        self.app.post_message(LineTyped(replace(typed, time=self._clock.now())))

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False


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

    def press(self) -> None:
        """The talk key arrived."""
        self._turn_to(self._key.press(self._clock.now()))

    def release(self) -> None:
        """The talk key was let go, in a terminal that tells."""
        self._turn_to(self._key.release(self._clock.now()))

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
