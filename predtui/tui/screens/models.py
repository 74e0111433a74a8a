"""Choosing a language model: one that ships, a GGUF file of a folder, or a path. Loads nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from predtui.errors import PredtuiError
from predtui.files import resolve
from predtui.models.published import SMOLLM2, find
from predtui.models.shipped import MODELS, model_folder
from predtui.tui import figures
from predtui.tui.gate import assemble

HINTS = {
    "pocket": "embedded",
    "pocket-draft": "embedded, smaller: the draft of pocket",
    "pocket-cllm": "embedded, made for --decoder jacobi",
}
NAMED = (*MODELS, SMOLLM2.name)


class Choice(NamedTuple):
    """One row: the model as the setting ``llm.model`` takes it, its name, its file, and a hint."""

    model: str
    name: str
    file: Path
    hint: str = ""


def named() -> list[Choice]:
    """The models that have names: those that ship, and the real one, installed or not."""
    known = [Choice(name, name, model_folder(name) / "model.gguf", HINTS.get(name, "")) for name in MODELS]
    file = find(SMOLLM2)
    hint = "real: talks about anything" if file else "talks about anything: F5 gets it"
    return [*known, Choice(SMOLLM2.name, SMOLLM2.name, file or Path(SMOLLM2.file), hint)]


def gguf_files(folder: str) -> list[Path]:
    """The GGUF files of a folder, by name; none if it is empty, missing or unreadable."""
    if not folder:
        return []
    try:
        return sorted(path for path in resolve(folder).iterdir() if path.suffix.lower() == ".gguf")
    except (OSError, PredtuiError):
        return []


class ModelScreen(ModalScreen[str]):
    """Returns the chosen model as the setting ``llm.model`` takes it, or an empty text."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,f4", "dismiss('')", "close", show=False)]

    def __init__(self, present: str, asked: str, files: Iterable[Path]) -> None:
        """``present``: the name of the model that answers now; ``asked``: the setting that was asked for last."""
        super().__init__()
        self._present = present
        known = named()
        theirs = {choice.file for choice in known}
        paths = [path for path in files if path not in theirs]
        if asked not in NAMED and Path(asked) not in paths and _stem(Path(asked)) == present:
            paths.append(Path(asked))
        self._choices = [*known, *(Choice(str(path), _name(path), path) for path in paths)]

    def compose(self) -> ComposeResult:
        with Vertical(id="page") as page:
            page.border_title = "MODEL"
            page.border_subtitle = "Enter chooses · Tab moves · Esc closes"
            width = max(assemble(choice.name).cell_length for choice in self._choices)
            yield OptionList(*(Option(self._line(choice, width)) for choice in self._choices))
            yield Static("or the path of a GGUF file, or of a folder for the torch engine:", classes="section")
            yield Input(placeholder="/path/to/model.gguf", compact=True)
            yield Static("", id="wrong")

    def on_mount(self) -> None:
        marks = [self._is_present(choice) for choice in self._choices]
        self.query_one(OptionList).highlighted = marks.index(True) if True in marks else 0

    def _line(self, choice: Choice, width: int) -> Content:
        mark = "●" if self._is_present(choice) else " "
        name = assemble(choice.name)
        gap = " " * (width - name.cell_length)
        return assemble(f"{mark} ", name, f"{gap} {_size(choice.file):>8}  {choice.hint}".rstrip())

    def _is_present(self, choice: Choice) -> bool:
        return self._present == (choice.model if choice.model in NAMED else _stem(choice.file))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index].model)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        try:
            path = resolve(event.value.strip())
        except PredtuiError as error:
            self.query_one("#wrong", Static).update(assemble(f"✗ {error}"))
            return
        if event.value.strip() in NAMED:
            self.dismiss(event.value.strip())
        elif path.is_file() or path.is_dir():
            self.dismiss(str(path))
        else:
            self.query_one("#wrong", Static).update(assemble(f"✗ {path}: no such file or folder"))


def _name(path: Path) -> str:
    """What sets it apart: many files are called model.gguf, each in a folder of its own."""
    return f"{path.parent.name}/{path.name}" if path.stem == "model" else path.name


def _stem(path: Path) -> str:
    """The name that an engine gives to a file or a folder."""
    try:
        return path.name if resolve(path).is_dir() else path.stem
    except PredtuiError:
        return path.stem


def _size(path: Path) -> str:
    try:
        return figures.memory(path.stat().st_size / 2**20) if path.is_file() else ""
    except OSError:
        return ""
