"""Pages to read: the help, and what the numbers of one pane mean. Knows nothing but words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from predtui.tui.actions import actions, key_of
from predtui.tui.gate import assemble
from predtui.tui.glossary import WORDS
from predtui.tui.keys import INPUT_HELP
from predtui.tui.panes import topics


class ReadingScreen(ModalScreen[None]):
    """A titled page of (term, meaning) lines that any of its keys closes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,question_mark,enter,q", "dismiss(None)", "close", show=False),
    ]

    def __init__(self, title: str, sections: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> None:
        super().__init__()
        self._heading = title
        self._sections = sections

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="page") as page:
            page.border_title = assemble(self._heading)
            page.border_subtitle = "Esc closes"
            yield from self.above()
            for title, lines in self._sections:
                if title:
                    yield Static(assemble(title), classes="section")
                for term, meaning in lines:
                    yield Line(term, meaning)

    def above(self) -> ComposeResult:
        """What stands before the lines, on a page that has more than these."""
        yield from ()


class Line(Widget):
    """A term and its meaning, wrapped in a column of its own, or below the term where that would be too narrow."""

    TERM = 22
    NARROW = 28
    """Columns of meaning below which the term has lines of its own."""

    def __init__(self, term: str, meaning: str) -> None:
        super().__init__(classes="line")
        self._term = term
        self._meaning = meaning

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """At the width that the layout is about to give it, which it does not have yet."""
        return len(self._lines(width))

    def render(self) -> Content:
        return assemble("\n").join(self._lines(self.content_size.width))

    def _lines(self, width: int) -> list[Content]:
        if width - self.TERM < self.NARROW:
            meaning = assemble(self._meaning).wrap(max(10, width - 2))
            return [*assemble((self._term, "bold")).wrap(max(10, width)), *("  " + line for line in meaning)]
        first, *others = assemble(self._meaning).wrap(width - self.TERM)
        head = assemble((f"{self._term:<{self.TERM}}", "bold"), first)
        return [head, *(assemble(" " * self.TERM) + line for line in others)]


def help_screen() -> ReadingScreen:
    """Every key, the words of the field, and every number on the screen."""
    panes = [(name.upper(), _with_keys(lines)) for name, lines in topics().items()]
    keys = [(action.spelled(), action.meaning) for action in actions() if action.keys]
    return ReadingScreen("HELP", [("KEYS", [*_with_keys(INPUT_HELP), *keys]), ("WORDS", _with_keys(WORDS)), *panes])


def topic_screen(topic: str) -> ReadingScreen:
    """The numbers of one pane."""
    return ReadingScreen(topic.upper(), [("", _with_keys(topics()[topic]))])


def _with_keys(lines: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """``{verifier}`` is the key of that action."""
    return [(term, re.sub(r"\{(\w+)\}", lambda found: key_of(found[1]), meaning)) for term, meaning in lines]
