"""Choosing a language model: the embedded one, the GGUF files of a folder, or a path. Loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

EMBEDDED = "pocket"


def gguf_files(folder: str) -> list[Path]:
    """The GGUF files of a folder, by name; none where it is empty, missing or closed to us."""
    if not folder:
        return []
    try:
        return sorted(path for path in Path(folder).expanduser().iterdir() if path.suffix.lower() == ".gguf")
    except OSError:
        return []


class ModelScreen(ModalScreen[str]):
    """Returns the chosen model as the setting ``llm.model`` takes it, or an empty text."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f4", "dismiss('')", "close", show=False)]

    def __init__(self, current: str, files: Sequence[Path]) -> None:
        super().__init__()
        self._current = current
        self._choices = [EMBEDDED, *(str(path) for path in files)]

    def compose(self) -> ComposeResult:
        with Vertical(id="page") as page:
            page.border_title = "MODEL"
            page.border_subtitle = "Enter chooses · Tab moves · Esc closes"
            yield OptionList(*(Option(self._line(choice), id=str(n)) for n, choice in enumerate(self._choices)))
            yield Static("or the path of a GGUF file, or of a folder for the torch engine:", classes="section")
            yield Input(placeholder="/path/to/model.gguf", compact=True)
            yield Static("", id="wrong")

    def _line(self, choice: str) -> str:
        mark = "●" if choice == self._current else " "
        if choice == EMBEDDED:
            return f"{mark} pocket  (embedded)"
        size = Path(choice).stat().st_size / 1e6 if Path(choice).exists() else 0.0
        return f"{mark} {Path(choice).name}  ({size:.0f} MB)"

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index])

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        path = Path(event.value.strip()).expanduser()
        if event.value.strip() == EMBEDDED:
            self.dismiss(EMBEDDED)
        elif path.exists():
            self.dismiss(str(path))
        else:
            self.query_one("#wrong", Static).update(f"✗ {path}: no such file or folder")
