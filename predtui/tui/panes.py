"""Every pane of the main screen: one line each. A new pane is a file in ``widgets`` that holds it, and one line here.

The file says what the pane shows, what its help says, and how high it is at which size of window; the line says where
it stands. Must not know of screens.
"""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import Any, Literal, cast

from predtui.tui.widgets.pane import Pane

Column = Literal["said", "guessed", "measured", "below"]
"""Where panes stand, one below the other. Side by side: "said", "guessed" (from 60 columns; before, under "said"),
"measured" (from 160 columns and 30 rows). "below": under all of these, over the whole width."""


@dataclass(frozen=True, slots=True)
class PaneEntry:
    """``factory``: "module:class" of a ``Pane``, in ``predtui.tui.widgets``."""

    column: Column
    factory: str

    def kind(self) -> type[Pane[Any]]:
        """The pane's class."""
        module, _, name = self.factory.partition(":")
        return cast(type[Pane[Any]], getattr(importlib.import_module(f"predtui.tui.widgets.{module}"), name))


PANES = (
    PaneEntry("said", "conversation:ConversationPane"),
    PaneEntry("said", "transcript:TranscriptPane"),
    PaneEntry("guessed", "candidate:CandidatePane"),
    PaneEntry("guessed", "verifier:VerifierPane"),
    PaneEntry("below", "timeline:TimelinePane"),
    PaneEntry("below", "utilisation:UtilisationPane"),
    PaneEntry("measured", "latency:LatencyPane"),
    PaneEntry("measured", "stages:StagesPane"),
)
"""In the order of the help, and of each column from its top."""


def panes_in(column: Column) -> tuple[type[Pane[Any]], ...]:
    """The panes of a column, from its top."""
    return tuple(entry.kind() for entry in PANES if entry.column == column)


@functools.cache
def topics() -> dict[str, tuple[tuple[str, str], ...]]:
    """Pane → (what it shows, what that means)."""
    return {pane.TOPIC: pane.MEANINGS for pane in (entry.kind() for entry in PANES)}


def style_sheet() -> str:
    """How high each pane is at which size of window."""
    return "".join(entry.kind().ROOM for entry in PANES)
