"""What one setting is to be: chosen from what there is, or typed. Checks it before it is returned. Must not know what
becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option as Row

from predtui.config import checked
from predtui.errors import PredtuiError
from predtui.settings import Option
from predtui.tui import figures
from predtui.tui.background import in_background
from predtui.tui.gate import assemble
from predtui.tui.messages import ValuesFound
from predtui.tui.offers import Offered

KEYS = "Enter takes it · Esc leaves it"
TYPED = "as typed"


class ValueScreen(ModalScreen[str | None]):
    """Returns the value as text; None where it stays as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "close", show=False),
        Binding("down", "move(1)", "next", show=False, priority=True),
        Binding("up", "move(-1)", "previous", show=False, priority=True),
        Binding("pagedown", "move(10)", "further", show=False, priority=True),
        Binding("pageup", "move(-10)", "back", show=False, priority=True),
    ]

    def __init__(
        self,
        item: Option,
        value: str,
        cost: str,
        look: Callable[[], list[Offered]],
        preview: Callable[[str], None] | None = None,
    ) -> None:
        """``cost``: what a change costs; ``look``: finds what it may be, in a thread of its own; ``preview``: shows a
        value that is highlighted."""
        super().__init__()
        self._item, self._value, self._cost = item, value, cost
        self._look, self._preview = look, preview
        self._all: list[Offered] = []
        self._rows: list[Offered] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="page") as page:
            page.border_title = assemble(self._item.key)
            page.border_subtitle = KEYS
            yield Static(assemble(self._cost), id="cost")
            yield Static(assemble(self._item.meaning), id="meaning")
            yield Input(placeholder=f"type a value; now it is {self._value}", compact=True)
            yield OptionList()
            yield Static("", id="hint")
            yield Static("", id="wrong")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._fill()
        in_background(self._find, "values")

    def _find(self) -> None:
        """In a thread of its own: the sound system is asked, or a folder."""
        try:
            self.post_message(ValuesFound(self._look()))
        except (PredtuiError, OSError) as error:
            self.post_message(ValuesFound([], str(error)))

    def on_values_found(self, message: ValuesFound) -> None:
        message.stop()
        self._all = list(message.values)
        self._complain(message.problem)
        self._fill()

    # --- the list ----------------------------------------------------------------------------------------------------

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._complain("")
        self._fill()

    def _fill(self) -> None:
        """What there is with the letters that were typed; and what was typed, where it may be anything."""
        typed, listed = self.query_one(Input).value.strip(), self.query_one(OptionList)
        numeric = self._item.kind in (int, float)
        self._rows = [one for one in self._all if not typed or (not numeric and typed.lower() in one.value.lower())]
        open_ended = not self._item.choices or any(name.endswith("N") for name in self._item.choices)
        if typed and open_ended and typed not in [one.value for one in self._rows]:
            self._rows.append(Offered(typed, TYPED))
        listed.clear_options()
        listed.add_options([Row(self._line(one)) for one in self._rows])
        now = [at for at, one in enumerate(self._rows) if one.value == self._value or shown_empty(one) == self._value]
        listed.highlighted = None if not self._rows else now[0] if now and not typed else 0

    def _line(self, one: Offered) -> Content:
        mark = "●" if shown_empty(one) == self._value else " "
        width = min(26, max((len(shown_empty(row)) for row in self._rows), default=0))
        name = figures.ends(shown_empty(one), 60 if not one.hint else width)
        gap = " " * (width - assemble(name).cell_length)
        return assemble(f"{mark} ", (name, "bold"), f"{gap}  {_notes(one)}".rstrip())

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if event.option_index >= len(self._rows):
            return
        one = self._rows[event.option_index]
        self.query_one("#hint", Static).update(assemble(_notes(one)))
        if self._preview and self.is_current:
            self._preview(one.value)

    # --- taking one --------------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        listed = self.query_one(OptionList)
        if self._rows:
            listed.highlighted = max(0, min(len(self._rows) - 1, (listed.highlighted or 0) + by))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._take()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._take()

    def _take(self) -> None:
        at = self.query_one(OptionList).highlighted
        value = self._rows[at].value if at is not None else self.query_one(Input).value.strip()
        try:
            checked(self._item.key, value, "here")
        except PredtuiError as error:
            self._complain(str(error).removeprefix("here: "))
        else:
            self.dismiss(value)

    def _complain(self, problem: str) -> None:
        self.query_one("#wrong", Static).update(assemble(f"✗ {problem}" if problem else ""))


def _notes(one: Offered) -> str:
    return " · ".join(part for part in ("lossy" * one.lossy, one.hint) if part)


def shown_empty(one: Offered) -> str:
    """The value as a person reads it, who does not see an empty one."""
    return one.value or "(empty)"
