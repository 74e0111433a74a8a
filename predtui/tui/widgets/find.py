"""The line in which one types what is to be found in a pane. Must not know what the pane shows."""

from __future__ import annotations

from typing import Any, Protocol

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.events import Key
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from predtui.tui.gate import assemble
from predtui.tui.widgets.pane import Pane


class FindBar(Horizontal):
    """Shown while one types. Enter goes back to the pane, and keeps what is found; Escape forgets it."""

    _pane: Pane[object] | None = None

    def __init__(self) -> None:
        super().__init__(id="find")

    def compose(self) -> ComposeResult:
        yield Static("/", id="find-mark")
        yield Input(compact=True, id="find-words")
        yield Static("", id="find-count")

    def begin(self, pane: Pane[object]) -> None:
        """Finds in ``pane`` from now on."""
        self._pane = pane
        line = self.query_one(Input)
        line.placeholder = f"find in {pane.TOPIC.upper()}: Enter keeps, Esc closes"
        line.value = pane.found.words
        self.set_class(True, "-shown")
        line.focus()
        self._tell()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._pane:
            self._pane.find(event.value)
            self._tell()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._end()

    def on_key(self, event: Key) -> None:
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            if self._pane:
                self._pane.find("")
            self._end()
        elif event.key in ("down", "up") and self._pane:
            event.stop()
            self._pane.go(1 if event.key == "down" else -1)
            self._tell()

    def on_descendant_blur(self) -> None:
        self.set_class(False, "-shown")

    def _end(self) -> None:
        pane, self._pane = self._pane, None
        self.set_class(False, "-shown")
        if pane:
            pane.focus()

    def _tell(self) -> None:
        self.query_one("#find-count", Static).update(assemble(self._pane.found.told() if self._pane else ""))


class Host(Protocol):
    """What is needed of the app."""

    @property
    def focused(self) -> Widget | None: ...

    @property
    def screen(self) -> Screen[Any]: ...


def find(app: Host) -> None:
    """Opens the line for the words, for the pane that has the focus."""
    if isinstance(pane := app.focused, Pane):
        app.screen.query_one(FindBar).begin(pane)


def forward(app: Host) -> None:
    _go(app, 1)


def backward(app: Host) -> None:
    _go(app, -1)


def _go(app: Host, by: int) -> None:
    if isinstance(pane := app.focused, Pane):
        pane.go(by)
