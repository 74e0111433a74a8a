"""Pages to read: help, and what the numbers of one pane mean. Knows nothing but the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from predtui.tui import explain


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
            page.border_title = self._heading
            page.border_subtitle = "Esc closes"
            for title, lines in self._sections:
                if title:
                    yield Static(title, classes="section")
                for term, meaning in lines:
                    yield _Line(term, meaning)


class _Line(Static):
    """A term and its meaning, the meaning wrapped in a column of its own."""

    TERM = 22

    def __init__(self, term: str, meaning: str) -> None:
        super().__init__(classes="line")
        self._term = term
        self._meaning = meaning

    def render(self) -> Content:
        width = max(10, self.content_size.width - self.TERM)
        first, *others = Content(self._meaning).wrap(width)
        head = Content.assemble((f"{self._term:<{self.TERM}}", "bold"), first)
        return Content("\n").join([head, *(Content(" " * self.TERM) + line for line in others)])


def help_screen() -> ReadingScreen:
    """Every key, and every number on the screen."""
    panes = [(name.upper(), lines) for name, lines in explain.TOPICS.items()]
    return ReadingScreen("HELP", [("KEYS", explain.KEYS), *panes])


def topic_screen(topic: str) -> ReadingScreen:
    """The numbers of one pane."""
    return ReadingScreen(topic.upper(), [("", explain.TOPICS[topic])])
