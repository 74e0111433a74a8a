"""A table of drafters: what became of their drafts, what they took, and what the chooser among them thinks of each.

Knows nothing of how they draft.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from predtui.state.events import Decoding, DrafterFigures
from predtui.tui import figures
from predtui.tui.gate import assemble
from predtui.tui.screens.reading import ReadingScreen

REFRESH_S = 0.5
HEAD = ("drafter", "accepted", "/forward", "time", "new", "again")
WIDTHS = (18, 10, 10, 7, 8, 8)
MEANINGS = (
    ("accepted", "drafted tokens that the model kept"),
    ("/forward", "tokens of replies for each forward that verified a draft of this drafter"),
    ("time", "share of all decoding that its drafts and these forwards took"),
    ("new, again", "times as fast as no draft, as auto thinks: in new contexts, and where the text repeats itself"),
)
NOTHING = "No draft was verified yet: ask something, with a decoder that drafts (F9: llm.decoder)."


class DraftersScreen(ReadingScreen):
    """Follows what is being decoded while it is open."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("D", "dismiss(None)", "close", show=False)]

    def __init__(self, decoding: Callable[[], Decoding | None]) -> None:
        super().__init__("DRAFTERS", [("", MEANINGS)])
        self._decoding = decoding

    def above(self) -> ComposeResult:
        yield Static(id="drafters", classes="line")

    def on_mount(self) -> None:
        self.show()
        self.set_interval(REFRESH_S, self.show)

    def show(self) -> None:
        """The figures as they are now."""
        decoding = self._decoding()
        told = table(decoding.drafters) if decoding else []
        head, *lines = told or [NOTHING]
        self.query_one("#drafters", Static).update(
            assemble((head, "bold" if told else ""), "\n".join(["", *lines, ""]))
        )


def table(drafters: tuple[DrafterFigures, ...]) -> list[str]:
    """A line a drafter, the one that took most time first; nothing where there is none."""
    if not drafters:
        return []
    every = sum(one.seconds for one in drafters)
    ordered = sorted(drafters, key=lambda one: -one.seconds)
    return [_line(HEAD), *(_line(_cells(one, every)) for one in ordered)]


def _cells(one: DrafterFigures, every: float) -> tuple[str, ...]:
    accepted = f"{one.accepted / one.proposed:.0%}" if one.proposed else figures.NONE
    forward = f"{one.tokens / one.forwards:.1f}" if one.forwards else figures.NONE
    time = f"{one.seconds / every:.0%}" if one.forwards and every else figures.NONE
    thought = (f"{value:.2f}x" if value else figures.NONE for value in (one.new, one.repeating))
    return (figures.shorten(one.name or "(no draft)", WIDTHS[0] - 1), accepted, forward, time, *thought)


def _line(cells: tuple[str, ...]) -> str:
    first, *others = zip(cells, WIDTHS, strict=True)
    return f"{first[0]:<{first[1]}}" + "".join(f"{cell:>{width}}" for cell, width in others)
