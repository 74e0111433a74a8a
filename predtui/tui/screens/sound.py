"""The sound check: a sample plays, the microphone's level moves, and what was found stands below in a line each. Knows
nothing of devices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, Protocol

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from predtui.audio.found import Found, Level, Say, Told
from predtui.tui import figures
from predtui.tui.driver import one_line
from predtui.tui.gate import assemble
from predtui.tui.messages import SoundTold
from predtui.tui.screens.reading import Line, ReadingScreen

MARKS = {"found": "✓", "missing": "–", "broken": "✗"}
OPENING = "The devices are being opened."
OVER = "This is what was found. r tries again; F9 chooses other devices, once this page is closed."
LEVEL = "microphone "
WIDEST = 60
"""Cells of the level."""


class Check(Protocol):
    """A sound check under way."""

    def __iter__(self) -> Iterator[Told]: ...

    def stop(self) -> None: ...


class SoundScreen(ReadingScreen):
    """Begins as it opens, and again when asked to."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "again", "again", show=False)]

    def __init__(self, begin: Callable[[], Check]) -> None:
        super().__init__("SOUND CHECK", [])
        self._begin = begin
        self._check: Check | None = None

    def above(self) -> ComposeResult:
        yield Static(id="asked", classes="line")
        yield Static(id="loudness", classes="line")

    def on_mount(self) -> None:
        self.query_one("#page").border_subtitle = "r again · Esc closes"
        self.action_again()

    def on_unmount(self) -> None:
        if self._check:
            self._check.stop()

    def action_again(self) -> None:
        """From the beginning, where it is over."""
        if self._check:
            return
        self.query(Line).remove()
        self._ask(OPENING)
        try:
            self._check = self._begin()
        except OSError as error:
            self._ask(f"The check cannot begin: {one_line(error)}")
        else:
            self.run_worker(self._follow, group="sound", thread=True)

    def _follow(self) -> None:
        """In a thread of its own, as long as it lasts."""
        for told in self._check or ():
            self.post_message(SoundTold(told))
        self.post_message(SoundTold(None))

    def on_sound_told(self, message: SoundTold) -> None:
        match message.told:
            case Level(decibels=level):
                self._show(LEVEL + figures.loudness(level, min(WIDEST, self._width) - len(LEVEL)))
            case Say(text=text):
                self._ask(text)
            case Found() as found:
                said = f"{found.text} {found.remedy}".rstrip()
                self.query_one("#page").mount(Line(f"{MARKS[found.state]} {found.subject}", said))
            case None:
                self._check = None
                self._show("")
                self._ask(OVER)

    @property
    def _width(self) -> int:
        return self.query_one("#loudness").content_size.width

    def _ask(self, text: str) -> None:
        """What to do now."""
        self.query_one("#asked", Static).update(assemble((text, "bold")))

    def _show(self, level: str) -> None:
        self.query_one("#loudness", Static).update(assemble((level, "$success")))
