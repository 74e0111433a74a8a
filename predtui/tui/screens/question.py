"""A question about what costs something. A letter answers it: Enter, which may be pressed twice, does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from predtui.tui.gate import assemble


class QuestionScreen(ModalScreen[bool]):
    """Returns whether the answer was yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "yes", show=False),
        Binding("n,escape", "dismiss(False)", "no", show=False),
    ]

    def __init__(self, question: str, lines: Sequence[str]) -> None:
        super().__init__()
        self._question, self._told = question, lines

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="page") as page:
            page.border_title = assemble(self._question)
            page.border_subtitle = "y yes · n no"
            for line in self._told:
                yield Static(assemble(line), classes="line")
