"""Ctrl+R: searches earlier prompts while one types. Sends nothing: what is chosen stands in the input line."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from predtui.tui.gate import assemble

MOST = 200
"""Rows."""
NOTHING = "nothing that you asked has these words"


class SearchScreen(ModalScreen[str]):
    """Returns the prompt that was chosen, or an empty text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+g", "dismiss('')", "close", show=False),
        Binding("ctrl+r,down", "move(1)", "older", show=False, priority=True),
        Binding("ctrl+s,up", "move(-1)", "newer", show=False, priority=True),
    ]

    def __init__(self, matching: Callable[[str], list[str]], words: str) -> None:
        """``matching``: the prompts with these words, the newest first; ``words``: those to begin with."""
        super().__init__()
        self._matching, self._words = matching, words
        self._found: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="page") as page:
            page.border_title = "EARLIER PROMPTS"
            page.border_subtitle = "Enter takes it · Ctrl+R older · Esc closes"
            yield Input(self._words, placeholder="type words of it", compact=True, select_on_focus=False)
            yield OptionList()

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._fill(self._words)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        listed = self.query_one(OptionList)
        self.dismiss(self._found[listed.highlighted] if self._found and listed.highlighted is not None else "")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._found[event.option_index])

    def action_move(self, by: int) -> None:
        listed = self.query_one(OptionList)
        if self._found:
            listed.highlighted = max(0, min(len(self._found) - 1, (listed.highlighted or 0) + by))

    def _fill(self, words: str) -> None:
        self._found = self._matching(words)[:MOST]
        listed = self.query_one(OptionList)
        listed.clear_options()
        rows = [Option(marked(text, words)) for text in self._found]
        listed.add_options(rows or [Option(assemble(NOTHING), disabled=True)])
        listed.highlighted = 0 if self._found else None


def marked(text: str, words: str) -> Content:
    """``text`` as one line, with its ``words`` in bold."""
    shown = assemble(" ".join(text.split()))
    folded = shown.plain.lower()
    for word in words.lower().split():
        if (at := folded.find(word)) >= 0:
            shown = shown.stylize("bold underline", at, at + len(word))
    return shown
