"""A name for something that has one. Knows not what for."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from predtui.tui.gate import assemble


class NameScreen(ModalScreen[str | None]):
    """Returns what was typed, which may be empty; None where it is to stay as it was."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "close", show=False)]

    def __init__(self, title: str, name: str, longest: int) -> None:
        super().__init__()
        self._title, self._name, self._longest = title, name, longest

    def compose(self) -> ComposeResult:
        with Vertical(id="page") as page:
            page.border_title = assemble(self._title)
            page.border_subtitle = "Enter keeps it · Esc closes"
            yield Input(self._name, max_length=self._longest, compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)
