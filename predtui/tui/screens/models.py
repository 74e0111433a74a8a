"""F4, the manager of models: chooses one of any place, by name or by path, gets one, removes one. Loads nothing, and
fetches nothing before a yes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from predtui.errors import PredtuiError
from predtui.files import resolve
from predtui.models.names import parse, title
from predtui.models.places import Found, find
from predtui.tui import figures
from predtui.tui.background import in_background
from predtui.tui.gate import assemble
from predtui.tui.messages import ModelsFound, OfferMade
from predtui.tui.screens.getting import ask_to_fetch, ask_to_remove, price
from predtui.tui.shelf import CHOSEN, NAMED, Choice, all_of, name_of, named, size_of
from predtui.tui.widgets.pull import PullBar, Told

LOOKING = "looking for models…"
LEAST_NAME, MOST_NAME, BESIDE_NAME = 16, 44, 22
"""Cells of a row's name where there is little room, and where there is much; of size and quantisation beside it."""
KEYS = "Enter chooses · letters filter · Del removes · Esc closes"


class ModelScreen(ModalScreen[str]):
    """Returns the chosen model as the setting ``llm.model`` takes it, or an empty text. Letters that are typed in the
    list choose its rows by their names."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f4", "dismiss('')", "close", show=False),
        Binding("f5", "stop", "stop fetching", show=False),
    ]

    def __init__(self, present: str, asked: str, look: Callable[[], list[Found]], bar: PullBar) -> None:
        """``present``: the name of the model that answers now; ``asked``: the setting that was asked for last;
        ``look``: what finds the models of this machine, in a thread of its own; ``bar``: what fetches."""
        super().__init__()
        self._present, self._asked, self._look, self._bar = present, asked, look, bar
        self._choices = self._with_asked(named())
        self._typed = ""
        self._said = LOOKING
        self._wanted = ""
        """The model whose costs are being asked for."""
        self._rows: list[Choice | None] = []
        """What each row stands for; None for the name of a group."""

    def compose(self) -> ComposeResult:
        with Vertical(id="page") as page:
            page.border_title = "MODEL"
            page.border_subtitle = assemble(KEYS)
            yield OptionList()
            yield Static(assemble(LOOKING), id="about")
            yield Static("", id="fetched")
            yield Static("Tab: a name (owner/name:Q4_K_M, ollama:name), a path, an address", classes="section")
            yield Input(placeholder="/path/to/model.gguf", compact=True)
            yield Static("", id="wrong")

    def on_mount(self) -> None:
        self._fill()
        self._look_again()
        self.watch(self._bar, "told", self._follow)

    def on_resize(self) -> None:
        """Names have another room."""
        self.call_after_refresh(self._fill)

    def on_models_found(self, message: ModelsFound) -> None:
        message.stop()
        self._choices, self._said = self._with_asked(list(message.choices)), ""
        self._fill()

    def on_key(self, event: Key) -> None:
        """What is typed in the list."""
        if not isinstance(self.focused, OptionList):
            return
        if event.key == "backspace":
            self._filter(self._typed[:-1])
        elif event.key == "delete":
            self._ask_to_remove()
        elif event.is_printable and event.character:
            self._filter(self._typed + event.character)
        else:
            return
        event.stop()

    def on_option_list_option_highlighted(self) -> None:
        self._tell()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        choice = self._rows[event.option_index]
        if choice and choice.to_get:
            self._price(choice.model)
        elif choice:
            self.dismiss(choice.model)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        try:
            self.dismiss(_meant(text))
        except PredtuiError as error:
            if _can_be_got(text):
                self._price(text)
            else:
                self._complain(str(error))

    # --- the list --------------------------------------------------------------------------------------------------

    def _look_again(self) -> None:
        self.run_worker(self._find, group="models", exclusive=True, thread=True, exit_on_error=False)

    def _find(self) -> None:
        """In a thread of its own: a place may be large, or slow."""
        self.post_message(ModelsFound(all_of(self._look())))

    def _with_asked(self, known: list[Choice]) -> list[Choice]:
        """With the model that was asked for by its path, where that answers and is none of them."""
        path = Path(self._asked)
        called = title(self._asked, path)
        if called != self._present or any(choice.title == called for choice in known):
            return known
        return [Choice(self._asked, name_of(path), called, CHOSEN, size_of(path)), *known]

    def _filter(self, typed: str) -> None:
        self._typed = typed
        self._fill()

    def _fill(self) -> None:
        """The rows that the filter lets through, the same one highlighted as before, or what answers now."""
        listed = self.query_one(OptionList)
        before = self._highlighted(at_first=False)
        shown = [choice for choice in self._choices if self._passes(choice)]
        longest = max((assemble(choice.name).cell_length for choice in shown), default=0)
        room = listed.scrollable_content_region.width - BESIDE_NAME
        width = min(longest, MOST_NAME, max(LEAST_NAME, room))
        self._rows, options = [], list[Option]()
        for group, rows in groupby(shown, key=lambda choice: choice.group):
            own = list(rows)
            self._rows += [None, *own]
            options += [Option(assemble(group), disabled=True), *(Option(self._line(one, width)) for one in own)]
        listed.clear_options()
        listed.add_options(options)
        kept = [at for at, choice in enumerate(self._rows) if before and choice and choice.model == before.model]
        present = [at for at, choice in enumerate(self._rows) if choice and self._is_present(choice)]
        listed.highlighted = next((at for at in (*kept, *present, 1) if at < len(self._rows)), None)
        self._tell()

    def _highlighted(self, at_first: bool = True) -> Choice | None:
        """The choice of the row that is highlighted; with ``at_first`` false, not where it is the first."""
        at = self.query_one(OptionList).highlighted
        return self._rows[at] if at is not None and at > (not at_first) and at < len(self._rows) else None

    def _passes(self, choice: Choice) -> bool:
        text = f"{choice.name} {choice.model} {choice.group} {choice.quantisation}".lower()
        return all(word in text for word in self._typed.lower().split())

    def _line(self, choice: Choice, width: int) -> Content:
        mark = "●" if self._is_present(choice) else " "
        name = assemble(figures.ends(assemble(choice.name).plain, width))
        gap = " " * (width - name.cell_length)
        size = figures.file_size(choice.size) if choice.size >= 0 else ""
        return assemble(f"{mark} ", name, f"{gap} {size:>8}  {choice.quantisation:<7} {choice.hint}".rstrip())

    def _is_present(self, choice: Choice) -> bool:
        """Of several that an engine calls by the same name, it is the one that was asked for."""
        if not self._present or choice.title != self._present:
            return False
        same = [one.model for one in self._choices if one.title == self._present]
        return choice.model == self._asked or self._asked not in same

    # --- what is said ----------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        """Of the filter, and of the row that is highlighted, whose hint may be cut in the list."""
        choice = self._highlighted()
        parts = (f"filter: {self._typed}" if self._typed else "", self._said, choice.hint if choice else "")
        self.query_one("#about", Static).update(assemble(" · ".join(part for part in parts if part)))

    def _complain(self, problem: str) -> None:
        self.query_one("#wrong", Static).update(assemble(f"✗ {problem}" if problem else ""))

    def _follow(self, before: Told, told: Told) -> None:
        """What is being fetched, and what came of it."""
        line = self.query_one("#fetched", Static)
        line.update(assemble(f"↓ {told.line}" + (" · F5 stops" if told.fetching else "")))
        line.set_class(bool(told.line), "-shown")
        line.set_class(not told.fetching, "-over")  # what came of it is read to its end
        if before.fetching and not told.fetching:
            self._look_again()

    # --- getting and removing --------------------------------------------------------------------------------------

    def action_stop(self) -> None:
        self._bar.cancel()

    def _price(self, name: str) -> None:
        """Asks what a model costs to fetch."""
        if self._bar.told.fetching:
            self._complain("One model is being fetched: F5 stops it.")
            return
        self._complain("")
        self._wanted, self._said = name, f"asking for size and licence of {name}…"
        self._tell()
        in_background(partial(price, name, self), "offer")

    def on_offer_made(self, message: OfferMade) -> None:
        """Nothing is fetched before the answer to this question."""
        message.stop()
        if message.asked != self._wanted:
            return
        self._wanted = self._said = ""
        self._tell()
        self._complain(message.problem)
        if message.offered is not None and self.is_current:
            try:
                ask_to_fetch(self.app, *message.offered, self._bar)
            except PredtuiError as error:
                self._complain(str(error))

    def _ask_to_remove(self) -> None:
        choice = self._highlighted()
        if choice is None or choice.to_get:
            return
        try:
            if self._is_present(choice):
                raise PredtuiError(f"{choice.name} answers now.", "Choose another first.")
            ask_to_remove(self.app, choice, self._removed)
        except PredtuiError as error:
            self._complain(str(error))

    def _removed(self, problem: str) -> None:
        self._complain(problem)
        self._look_again()


def _meant(text: str) -> str:
    """The model that a person has typed, which is there, as the setting takes it. Raises PredtuiError."""
    if text in NAMED:
        return text
    if not text:
        raise PredtuiError("Write a name or a path.", "Esc closes.")
    path = find(text)
    if not path.exists():
        raise PredtuiError(f"{resolve(text)}: no such file or folder.")
    return text if parse(text).kind != "path" else str(path)


def _can_be_got(text: str) -> bool:
    """Whether it is a name of the list or of the hub, or an address."""
    from predtui.models.curated import proposals

    try:
        return text in proposals() or parse(text).kind in ("hub", "url")
    except PredtuiError:
        return False
