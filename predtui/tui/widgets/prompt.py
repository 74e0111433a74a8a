"""The line one types into, and the button one holds to talk. They say what was done, and do nothing about it."""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from predtui.clock import Clock
from predtui.text import printable
from predtui.tui.messages import KeyStruck, TalkHeld, Told, WordsTyped
from predtui.tui.push_to_talk import PushToTalk
from predtui.tui.words import finished_words

PLACEHOLDER = "type here: every word is a partial prompt; Enter ends the turn"
POLL = 0.05
"""Seconds between looks at a held talk key."""
GRACE = 1.0
"""Seconds the engine has to begin listening, before the talk key counts as let go."""
READ_ONLY = "a replay: nothing can be typed or said"


class PromptLine(Input):
    """Tells each change of the finished words, and the whole line on Enter. Debounced by content, never by time."""

    def __init__(self, read_only: bool = False) -> None:
        super().__init__(
            placeholder=READ_ONLY if read_only else PLACEHOLDER,
            id="prompt",
            compact=True,
            select_on_focus=False,
            disabled=read_only,
        )
        self._told: tuple[str, ...] = ()
        self._standing = False

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self.value:
            self.post_message(KeyStruck())
        words = finished_words(self.value, self.cursor_position)
        emptied = not self.value and self._standing
        if words is not None and (words != self._told or emptied):
            self._told, self._standing = words, bool(self.value)
            self.post_message(WordsTyped(self.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = self.value.strip()
        self.reset()
        if text:
            self.post_message(WordsTyped(text, final=True))

    async def _on_key(self, event: events.Key) -> None:
        """A key that edits acts here and now: on its way up to a binding, the letters behind it would overtake it."""
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            event.stop()
            event.prevent_default()
            await self.run_action(binding.action)

    def _on_paste(self, event: events.Paste) -> None:
        """All lines of it, as one prompt."""
        event.stop()
        event.prevent_default()
        lines = [line for line in map(str.strip, event.text.splitlines()) if line]
        self.replace(printable(" ".join(lines) if len(lines) > 1 else event.text.strip("\r\n")), *self.selection)
        if len(lines) > 1:
            self.post_message(Told(f"{len(lines)} lines pasted as one: Enter sends them as one prompt"))

    def reset(self) -> None:
        """Empties the line without telling anyone: a turn has ended."""
        self._told, self._standing = (), False
        self.value = ""


class TalkButton(Widget):
    """Talk while it is held with the mouse, or by the talk key, whose presses ``press`` takes."""

    talking: reactive[bool] = reactive(False)

    def __init__(self, clock: Clock, disabled: bool = False) -> None:
        super().__init__(id="talk", disabled=disabled)
        self._clock = clock
        self._key = PushToTalk()
        self._began = 0.0
        self._listening = False
        self._deaf = False
        self._poll: Timer | None = None

    def on_mount(self) -> None:
        self._poll = self.set_interval(POLL, self.poll, pause=True)

    def render(self) -> Content:
        return Content("● TALKING" if self.talking else "● TALK")

    def press(self) -> None:
        """The talk key arrived."""
        self._turn_to(self._key.press(self._clock.now()))

    def poll(self) -> None:
        """Lets go where the key's repeats have stopped, or where nobody listens (any more)."""
        now = self._clock.now()
        self._turn_to(self._key.poll(now))
        if self.talking and not self._listening and now - self._began > GRACE:
            self._show(False)

    def follow(self, listening: bool, deaf: bool = False) -> None:
        """Whether the engine listens: where it stops by itself, so does the button. ``deaf``: it has no microphone, so
        that asking it to listen only makes it say so, and look for one."""
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
        if on is None or self.disabled:
            return
        if on and self._deaf:
            self._key.set(False)
            again, self._began = self._clock.now() - self._began < GRACE, self._clock.now()
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
