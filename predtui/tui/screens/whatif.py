"""What if: chooses what a recorded turn is asked again with, and shows both side by side. Must not know how it is
asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static

from predtui.errors import PredtuiError
from predtui.models.shipped import MODELS, POCKET_DRAFT
from predtui.registry import DECODERS, VERIFIERS
from predtui.settings import Settings
from predtui.state.turn import Turn
from predtui.tui import comparison, figures
from predtui.tui.gate import assemble
from predtui.tui.messages import AskedAgain
from predtui.tui.widgets.pane import STYLES, Drawn

BESIDE = 92
"""Cells from which both timelines stand side by side."""
HEIGHT = 6
"""Rows of a timeline."""
ASK, WAIT, TOLD = "Enter asks again · Esc closes", "Esc gives up", "Esc: another"
Tell = Callable[[str], None]
Again = Callable[[Settings, Tell, threading.Event], tuple[Turn, Sequence[str]]]
"""Asks with settings: the turn as it is then, and lines on what differs. Raises PredtuiError."""


class Choice(NamedTuple):
    """``line`` names what is changed; ``settings`` are those with it changed."""

    line: str
    settings: Settings


def choices(settings: Settings) -> list[Choice]:
    """Every verifier, decoder and shipped model but those of ``settings``, which the recorded turn had."""
    llm = settings.llm
    verifiers = [entry.choice for entry in VERIFIERS.values() if entry.choice != llm.verifier]
    decoders = [name for name in DECODERS.offered() if name != llm.decoder]
    models = [name for name in MODELS if name not in (llm.model, POCKET_DRAFT)]
    return [
        *(Choice(f"verifier  {VERIFIERS.line(one)}", _with(settings, verifier=one)) for one in verifiers),
        *(Choice(f"decoder   {DECODERS.line(one)}", _with(settings, decoder=one)) for one in decoders),
        *(Choice(f"model     {one}", _with(settings, model=one)) for one in models),
        Choice("nothing: as it was, to see how much is chance", settings),
    ]


def _with(settings: Settings, **changed: str) -> Settings:
    return replace(settings, llm=replace(settings.llm, **changed))  # type: ignore[arg-type]


class Compared(Drawn[tuple[Turn, Turn, tuple[str, ...]] | None]):
    """The figures of both turns, what they do not say, and both timelines: beside each other where there is room."""

    def __init__(self, recorded: Turn) -> None:
        super().__init__(recorded, name="compared")
        self.values = None

    def read(self, turn: Turn) -> None:
        """It shows two turns that are over."""

    def tell(self, recorded: Turn, again: Turn, findings: Sequence[str]) -> None:
        self.values = (recorded, again, tuple(findings))
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.draw(self.values, width, 0))

    def draw(self, values: tuple[Turn, Turn, tuple[str, ...]] | None, width: int, height: int) -> list[Content]:
        if values is None:
            return []
        recorded, again, findings = values
        said = [line for text in findings for part in text.split("\n") for line in assemble(part).wrap(width)]
        return [*said, assemble(), *_table(recorded, again, width), assemble(), *_timelines(recorded, again, width)]


def _table(recorded: Turn, again: Turn, width: int) -> list[Content]:
    name, column = 16, max(11, min(24, (width - 16) // 3))
    head = f"{'':<{name}}{comparison.RECORDED:<{column}}{comparison.AGAIN:<{column}}difference"
    lines = [assemble((head[:width], ".dim"))]
    for row in comparison.rows(recorded, again):
        cells = [f"{figures.shorten(cell, column - 1):<{column}}" for cell in (row.recorded, row.again)]
        lines.append(assemble((f"{row.name:<{name}}", ".dim"), *cells, (row.difference, ".strong")))
    return lines


def _timelines(recorded: Turn, again: Turn, width: int) -> list[Content]:
    beside = width >= BESIDE
    room = (width - 3) // 2 if beside else width
    first, second = comparison.pictures(recorded, again, room, HEIGHT)
    heads = [assemble((f"{name:<{room}}", ".strong")) for name in (comparison.RECORDED, comparison.AGAIN)]
    left, right = [heads[0], *first], [heads[1], *second]
    if not beside:
        return [*left, assemble(), *right]
    return [one + " " * (room + 3 - one.cell_length) + other for one, other in zip(left, right, strict=False)]


class WhatIfScreen(ModalScreen[None]):
    """``again`` is called in a thread of its own."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "back", show=False)]
    COMPONENT_CLASSES: ClassVar[set[str]] = STYLES

    def __init__(self, recorded: Turn, settings: Settings, again: Again) -> None:
        """``settings``: those that the recorded turn had."""
        super().__init__()
        self._recorded, self._again = recorded, again
        self._choices = choices(settings)
        self._stopped = threading.Event()
        self._waiting = False

    def compose(self) -> ComposeResult:
        with Vertical(id="page") as page:
            page.border_title = assemble(f"WHAT IF · turn {self._recorded.number}: {self._recorded.prompt}")
            yield OptionList(*(assemble(choice.line) for choice in self._choices))
            yield Static("", id="about")
            with VerticalScroll(id="beside"):
                yield Compared(self._recorded)

    def on_mount(self) -> None:
        self._show("", ASK)
        self.query_one(OptionList).focus()

    def on_unmount(self) -> None:
        self._stopped.set()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if not self._waiting:
            self._ask(self._choices[event.option_index])

    def _ask(self, choice: Choice) -> None:
        self._stopped, self._waiting = threading.Event(), True
        stopped, name = self._stopped, choice.line.partition(":")[0]
        self._show(f"{name}: starting …", WAIT)

        def tell(line: str) -> None:
            self.post_message(AskedAgain(f"{name}: {line} …"))

        def job() -> None:
            try:
                turn, findings = self._again(choice.settings, tell, stopped)
                self.post_message(AskedAgain(name, turn, tuple(findings), over=True))
            except PredtuiError as error:
                self.post_message(AskedAgain("" if stopped.is_set() else f"✗ {error}", over=True))

        self.run_worker(job, group="what if", thread=True, exit_on_error=False)

    def on_asked_again(self, message: AskedAgain) -> None:
        message.stop()
        self._waiting = not message.over
        if message.turn:
            self.query_one(Compared).tell(self._recorded, message.turn, message.findings)
            self.add_class("-told")
            self.query_one("#beside").focus()
        self._show(message.line, TOLD if message.turn else ASK if message.over else WAIT)

    def action_back(self) -> None:
        """Gives up what is under way; then goes back to the choices; then closes."""
        if self._waiting:
            self._stopped.set()
        elif self.has_class("-told"):
            self.remove_class("-told")
            self.query_one(OptionList).focus()
            self._show("", ASK)
        else:
            self.dismiss(None)

    def _show(self, line: str, keys: str) -> None:
        self.query_one("#about", Static).update(assemble(line))
        self.query_one("#page").border_subtitle = keys
