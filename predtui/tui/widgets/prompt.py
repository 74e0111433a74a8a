"""The input line. It reports what is typed, and does nothing about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from textual import events
from textual.actions import SkipAction
from textual.document._document import EditResult, Location
from textual.document._edit import Edit
from textual.geometry import Size
from textual.reactive import Reactive, var
from textual.widgets import TextArea

from predtui.clock import Clock
from predtui.foreign import lines_without_controls
from predtui.runtime.typing import Typed
from predtui.state.events import Continuation
from predtui.state.turn import Turn
from predtui.tui.actions import bind, editing
from predtui.tui.ahead import first_word, rest
from predtui.tui.driver import READ_ONLY
from predtui.tui.messages import LineTyped
from predtui.tui.recall import Recall

PLACEHOLDER = "type here: every word is a partial prompt; Enter ends the turn"
SHARE = 5
"""One of so many rows of the window is the input line's at most."""


class PromptLine(TextArea, inherit_bindings=False):
    """Posts the text after each edit and each move of the cursor, and when Enter ends it: immediately, in the order of
    the keys, so that what comes after Enter belongs to the next prompt. As high as its lines, up to a share
    of the window."""

    DEFAULT_CSS = "PromptLine { overflow: hidden; }"
    virtual_size = Reactive(Size(0, 0))
    """Of all that is typed. Textual's asks for a new layout of the screen at each letter; here, only one line more or
    less does."""
    written: var[bool] = var(False)
    """Whether there is something to send."""
    _quiet = False
    _posted = ("", 0)
    _most = 1
    _ahead: tuple[Continuation, ...] = ()

    def __init__(self, clock: Clock, read_only: bool = False, recall: Recall | None = None) -> None:
        super().__init__(
            placeholder=READ_ONLY if read_only else PLACEHOLDER,
            id="prompt",
            compact=True,
            highlight_cursor_line=False,
            disabled=read_only,
        )
        bind(self, editing())
        self.recall = recall or Recall()
        self.aside = ""
        """What is typed for show: that text alone is no part of the conversation, and is not recalled."""
        self._clock = clock

    @property
    def value(self) -> str:
        """What is typed. Set, it is one edit, which can be undone."""
        return self.text

    @value.setter
    def value(self, text: str) -> None:
        self.replace(_lines(text), (0, 0), self.document.end, maintain_selection_offset=False)

    passes: frozenset[str] = frozenset()
    """Keys that mean something else than their letters at present."""

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        return key not in self.passes and super().check_consume_key(key, character)

    async def _on_key(self, event: events.Key) -> None:
        """A key that edits acts here and now: on its way up to a binding, the letters behind it would overtake it."""
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()

    async def _on_paste(self, event: events.Paste) -> None:
        """All lines of it, but for empty ones around them."""
        event.stop()
        event.prevent_default()
        self._insert(_lines(event.text.strip("\r\n")))

    def edit(self, edit: Edit) -> EditResult:
        """Every edit passes here, and sets the text before the cursor: it is posted once both are right."""
        with self._telling():
            return super().edit(edit)

    def undo(self) -> None:
        with self._telling():
            super().undo()

    def redo(self) -> None:
        with self._telling():
            super().redo()

    def watch_selection(self) -> None:
        if not self._quiet:
            self.update_suggestion()
        self._tell()

    def action_new_line(self) -> None:
        self._insert("\n")

    def foresee(self, turn: Turn) -> None:
        """How the text may go on: shown behind it, and no part of it unless it is accepted."""
        ahead = turn.continuations if turn.phase == "typing" else ()
        if ahead is not self._ahead:
            self._ahead = ahead
            self.update_suggestion()

    def update_suggestion(self) -> None:
        """After each edit and move too: what is typed along with stays, anything else is gone at once."""
        shown = ""
        if self._ahead and self.cursor_at_end_of_text and self.selection.is_empty:
            shown = rest(self.text, self._ahead, self.suggestion)
        self.suggestion = shown

    def action_accept_word(self) -> None:
        """Raises SkipAction where there is none, so that the key does what it does elsewhere."""
        if not self.suggestion:
            raise SkipAction
        self._insert(first_word(self.suggestion))

    def action_cursor_right(self, select: bool = False) -> None:
        if self.suggestion and not select:
            self.action_accept_word()
        else:
            super().action_cursor_right(select)

    def action_cursor_line_end(self, select: bool = False) -> None:
        if self.suggestion and not select:
            self._insert(self.suggestion)
        else:
            super().action_cursor_line_end(select)

    def action_submit(self) -> None:
        """Takes the text and empties the line, before any later key is looked at."""
        text = self.text
        with self._quietly():
            self.load_text("")
        self._posted = ("", 0)
        if text.strip():
            if text != self.aside:
                self.recall.add(text)
            self._post(Typed(text, final=True))

    def action_cursor_up(self, select: bool = False) -> None:
        """As in a shell, the prompt before, where there is no line above; nothing is sent before Enter."""
        if select or not self.cursor_at_first_line or not self._put(self.recall.older(self.text)):
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        if select or not self.cursor_at_last_line or not self._put(self.recall.newer(self.text)):
            super().action_cursor_down(select)

    def take(self, words: str | None) -> None:
        """Puts ``words``, where there are any, in the place of what is typed, to be sent or gone on with."""
        if self._put(words or None):
            self.focus()

    def _put(self, words: str | None) -> bool:
        """Whether there is something to put, which may be nothing but an empty line."""
        if words is not None:
            self.value = words
        return words is not None

    def offer(self, words: str) -> None:
        """Puts ``words`` here to be gone on with, unless something is typed already. Nothing is posted before a key."""
        if words and not self.text:
            with self._quietly():
                self.value = f"{words} "
            self._posted = self._line

    def get_cursor_line_start_location(self, smart_home: bool = False) -> Location:
        """Of the line, however many rows it is shown in."""
        return self.cursor_location[0], 0

    def get_cursor_line_end_location(self) -> Location:
        row, _ = self.cursor_location
        return row, len(self.document[row])

    def find_matching_bracket(self, bracket: str, search_from: Location) -> None:
        """This is no code."""

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.written = bool(self.text.strip())

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        event.stop()

    def fit(self, height: int) -> None:
        """The window has so many rows: a share of them is the most that this takes."""
        self._most = max(2, height // SHARE)
        self._grow()

    def on_resize(self) -> None:
        self.scroll_cursor_visible()

    def _refresh_size(self) -> None:
        super()._refresh_size()
        self._grow()

    def _grow(self) -> None:
        rows = min(self._most, max(1, self.wrapped_document.height))
        if self.styles.height is None or self.styles.height.value != rows:
            self.styles.height = rows

    def _insert(self, text: str) -> None:
        """In the place of what is selected."""
        self.replace(text, *self.selection, maintain_selection_offset=False)

    @property
    def _line(self) -> tuple[str, int]:
        """The text, and how many characters of it are before the cursor."""
        return self.text, self.document.get_index_from_location(self.cursor_location)  # type: ignore[attr-defined]

    def _tell(self) -> None:
        if not self._quiet and self._line != self._posted:
            self._posted = self._line
            self._post(Typed(*self._posted))

    def _post(self, typed: Typed) -> None:
        """Straight to the app: a line must not wait for what is being drawn."""
        aside = bool(self.aside) and typed.text == self.aside
        self.app.post_message(LineTyped(replace(typed, time=self._clock.now(), aside=aside)))

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """At its end, the cursor is in sight, and the line is told: at no step on the way there."""
        with self._quietly():
            yield
        self.scroll_cursor_visible()
        self._tell()

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before


def _lines(text: str) -> str:
    """Text from elsewhere, as lines that command no terminal."""
    return lines_without_controls("\n".join(text.splitlines()))
