"""F9: every setting, by group, with what it means, what it costs to change, and where it comes from. Changes one at a
time, live. Must not know how a change is made, nor what a setting may be."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option as Row

from predtui.config import origins
from predtui.errors import PredtuiError
from predtui.settings import Option, options
from predtui.tui import figures
from predtui.tui.choices import ThemeChoice
from predtui.tui.dials import Dials, shown
from predtui.tui.gate import assemble
from predtui.tui.offers import lossy, offered
from predtui.tui.screens.value import ValueScreen

KEYS = "Enter changes · type to search · Esc closes"
FIRST = (
    "llm.model", "llm.verifier", "llm.decoder", "llm.drafter", "llm.temperature", "llm.thinking",
    "asr.engine", "asr.model", "tts.engine", "tts.voice", "tts.rate",
    "audio.input", "audio.output", "audio.hands_free", "ui.theme",
)  # fmt: skip
"""Those that are changed most."""
GROUPS = {
    "llm": "language model and speculation", "asr": "recogniser", "tts": "voice", "audio": "devices and turns",
    "ui": "screen", "safety": "safety", "sessions": "conversations",
}  # fmt: skip
FOREMOST = "changed most"
NAME, NOTES = 20, 22
"""Cells of a row's name, and of what is said beside its value where there is room."""
MOST_VALUE, LEAST_VALUE = 30, 14
"""Cells of its value with such notes."""


def in_order() -> list[tuple[str, Option]]:
    """Every setting once, with its group."""
    table = options()
    rest = [item for key, item in table.items() if key not in FIRST]
    foremost = [(FOREMOST, table[key]) for key in FIRST]
    return foremost + [(GROUPS[item.key.split(".")[0]], item) for item in rest]


class SettingsScreen(ModalScreen[None]):
    """Letters search; Enter opens the highlighted setting, or switches it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f9", "dismiss(None)", "close", show=False),
        Binding("down", "move(1)", "next", show=False, priority=True),
        Binding("up", "move(-1)", "previous", show=False, priority=True),
        Binding("pagedown", "move(10)", "further", show=False, priority=True),
        Binding("pageup", "move(-10)", "back", show=False, priority=True),
    ]

    def __init__(self, dials: Dials, themes: ThemeChoice) -> None:
        super().__init__()
        self._dials, self._themes = dials, themes
        self._all = in_order()
        self._rows: list[Option | None] = []
        """What each row stands for; None for the name of a group."""
        self._from: dict[str, str] = {}

    def compose(self) -> ComposeResult:
        with Vertical(id="page") as page:
            page.border_title = "SETTINGS"
            page.border_subtitle = KEYS
            yield Input(placeholder="type a name, a value or a word of what it means", compact=True)
            yield OptionList()
            yield Static("", id="cost")
            yield Static("", id="meaning")
            yield Static("", id="wrong")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._dials.listener = self._changed
        self._changed()

    def on_unmount(self) -> None:
        self._dials.listener = _nobody

    def on_resize(self) -> None:
        """Values have another room."""
        self.call_after_refresh(self._fill)

    def _changed(self) -> None:
        self._from = origins(self._dials.settings)
        self._say(self._dials.told)
        self._fill()

    # --- the list ----------------------------------------------------------------------------------------------------

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill()

    def _fill(self) -> None:
        """The rows that the search lets through, the same one highlighted as before."""
        listed, before = self.query_one(OptionList), self._highlighted()
        words = self.query_one(Input).value.lower().split()
        found = [pair for pair in self._all if self._passes(pair[1], words)]
        self._rows, rows = [], list[Row]()
        for group, pairs in groupby(found, key=lambda pair: pair[0]):
            own = [item for _, item in pairs]
            self._rows += [None, *own]
            rows += [Row(assemble(group), disabled=True), *(Row(self._line(item)) for item in own)]
        listed.clear_options()
        listed.add_options(rows)
        kept = [at for at, item in enumerate(self._rows) if before and item and item.key == before.key]
        named = [at for at, item in enumerate(self._rows) if item and words == [item.key]]
        listed.highlighted = next((at for at in (*named, *kept, 1) if at < len(rows)), None)
        self._tell()

    def _passes(self, item: Option, words: list[str]) -> bool:
        choices = " ".join(item.choices)
        text = f"{item.key} {item.meaning} {choices} {shown(self._dials.value(item.key))} {self._from[item.key]}"
        return all(word in text.lower() for word in words)

    def _line(self, item: Option) -> Content:
        value, comes = self._dials.value(item.key), self._from[item.key]
        mark = "◌" if self._dials.pending(item.key) else " " if comes == "default" else "●"
        room = self.query_one(OptionList).scrollable_content_region.width - NAME - 2
        noted = room >= LEAST_VALUE + NOTES
        wide = min(MOST_VALUE, room - NOTES) if noted else max(8, room)
        name, text = figures.ends(item.key, NAME - 1), figures.ends(shown(value), wide)
        notes = " · ".join(note for note in ("lossy" * lossy(item, value), comes) if note) if noted else ""
        gap = " " * (wide - assemble(text).cell_length)
        return assemble(f"{mark} {name:<{NAME}}", (text, "bold"), f"{gap}  {notes}".rstrip())

    def _highlighted(self) -> Option | None:
        at = self.query_one(OptionList).highlighted
        return self._rows[at] if at is not None and at < len(self._rows) else None

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._tell()

    def _tell(self) -> None:
        """Of the row that is highlighted: what it means, what changing it costs, and where it comes from."""
        item = self._highlighted()
        cost = cost_of(item, self._dials, self._from[item.key]) if item else ""
        self.query_one("#cost", Static).update(assemble(cost))
        self.query_one("#meaning", Static).update(assemble(item.meaning if item else "No setting is called so."))

    def _say(self, line: str) -> None:
        self.query_one("#wrong", Static).update(assemble(line))

    # --- changing one ------------------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        """Over the names of groups."""
        listed = self.query_one(OptionList)
        at = max(0, min(len(self._rows) - 1, (listed.highlighted or 0) + by))
        step = 1 if by > 0 else -1
        while 0 <= at < len(self._rows) and self._rows[at] is None:
            at += step
        if 0 <= at < len(self._rows):
            listed.highlighted = at

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._open()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._open()

    def _open(self) -> None:
        item = self._highlighted()
        if item is None:
            return
        if item.key == "llm.model":
            self.dismiss()
            self.app.call_later(self.app.run_action, "app.model")
        elif item.kind is bool:
            self._change(item.key, not self._dials.value(item.key))
        else:
            self._ask(item)

    def _ask(self, item: Option) -> None:
        former, themed = self._dials.value(item.key), item.key == "ui.theme"
        look = partial(offered, item, self._dials.settings, self._themes.names)
        cost = cost_of(item, self._dials, self._from[item.key])
        page = ValueScreen(item, shown(former), cost, look, self._themes.show if themed else None)

        def take(value: str | None) -> None:
            if themed:
                self._themes.show(former)
            if value is not None:
                self._change(item.key, value)

        self.app.push_screen(page, take)

    def _change(self, key: str, value: Any) -> None:
        try:
            self._dials.change({key: value})
        except PredtuiError as error:
            self._say(f"✗ {error}")


def cost_of(item: Option, dials: Dials, comes: str) -> str:
    """What a change costs, where the value comes from, and what sets it from outside."""
    flag = f"--{item.flag or item.key.replace('.', '-').replace('_', '-')}"
    source = {
        "file": f"from your settings.toml · {flag}",
        "environment": f"from {item.variable}, which goes before your settings.toml",
        "command line": f"from the command line, {flag}",
        "default": f"the default · {flag}",
    }[comes]
    return f"{dials.cost(item.key)} · {source}"


def _nobody() -> None:
    """Nobody looks at the settings."""
