"""What every drawn part shares: it takes the values it shows out of the Turn, and is drawn again only when they change.

Knows nothing of any one part, nor of where turns come from.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from itertools import zip_longest
from typing import ClassVar, Generic, TypeVar

from rich.cells import cell_len
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Offset, Region, Size
from textual.reactive import var
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget

from predtui.state.turn import Turn
from predtui.tui.actions import bind, bindings
from predtui.tui.finding import Found, hits
from predtui.tui.gate import assemble
from predtui.tui.wrapping import extracted

Values = TypeVar("Values", bound=Hashable)
STYLES = {
    "kept", "new", "rejected", "stable", "tentative", "dim", "strong", "good", "fair", "bad",
    "accent", "code", "key", "saying", "found", "found-now",
    "row-asr", "row-encode", "row-write", "row-llm", "row-target", "row-draft",
    "row-tts", "row-audio",
}  # fmt: skip
"""Styles that the style sheet sets: component classes of every screen on which something is drawn. Of each widget, they
would be worked out once a widget, which is most of what a change of theme, size or layout takes."""


class Drawn(Widget, Generic[Values]):
    """A widget whose content is ``draw(read(turn))``, in styles named ``.kept`` and so on, which its screen has as
    ``STYLES``."""

    def __init__(self, turn: Turn, *, name: str | None = None) -> None:
        super().__init__(id=name)
        self.values = self.read(turn)
        self._lines: list[Content] = []
        self._lines_size = (0, 0)
        self.found = Found()

    @abstractmethod
    def read(self, turn: Turn) -> Values:
        """The values shown, comparable, so that equal ones need no drawing."""

    @abstractmethod
    def draw(self, values: Values, width: int, height: int) -> list[Content]:
        """The values as lines, within ``width`` x ``height`` cells."""

    def show(self, turn: Turn) -> None:
        """Draws again the lines in which this turn differs from the last."""
        values = self.read(turn)
        if values != self.values:
            self.values = values
            self.changed(values)
            self.refresh_lines()

    def refresh_lines(self) -> None:
        """Draws again the lines that are no longer as they stand."""
        before, now = self._lines, self._drawn()
        for y, (old, new) in enumerate(zip_longest(before, now)):
            if old is None or new is None or not old.is_same(new):
                self.refresh(Region(0, y, self._lines_size[0], 1))

    @property
    def room(self) -> Size:
        """Columns and rows for the lines."""
        return self.content_size

    def changed(self, values: Values) -> None:
        """For what lies outside the content, such as the title."""

    def on_mount(self) -> None:
        self.changed(self.values)
        self.app.theme_changed_signal.subscribe(self, lambda _: self.refresh())

    def render_line(self, y: int) -> Strip:
        self._dirty_regions.clear()
        if self._lines_size != self.room:
            self._drawn()
        line, selection = self._line(y), self.text_selection
        if selection and (span := selection.get_span(self.place_of(y))):
            line = line.stylize(self._selected, span[0], None if span[1] == -1 else span[1])
        if not (width := self._lines_size[0]):
            return Strip.blank(0)
        return Visual.to_strips(self, line, width, 1, self.visual_style, apply_selection=False)[0]

    def _line(self, y: int) -> Content:
        line = self._lines[y] if y < len(self._lines) else assemble()
        for (_, start, end), now in self.found.on(self.place_of(y)) if self.found.hits else ():
            style = Style.from_styles(self.screen.get_component_styles("found-now" if now else "found"))
            line = line.stylize(style, start, end)
        return line

    def offset_at(self, x: int, y: int) -> Offset:
        """The character of the document on this cell of the content, by which the mouse selects."""
        text, cells = self._line(y).plain, 0
        for at, character in enumerate(text):
            cells += cell_len(character)
            if cells > x:
                return Offset(at, self.place_of(y))
        return Offset(len(text), self.place_of(y))

    def document(self) -> list[Content]:
        """All lines, those that are out of view too."""
        return self._lines

    def place_of(self, y: int) -> int:
        """Which line of the document stands on row ``y``."""
        return y

    def get_selection(self, selection: Selection) -> tuple[str, str]:
        return extracted(self.document(), selection), "\n"

    @property
    def select_container(self) -> Widget:
        """Three clicks select what two do: nothing of another pane."""
        return self

    @property
    def _selected(self) -> Style:
        return Style.from_styles(self.screen.get_component_styles("screen--selection"))

    def _drawn(self) -> list[Content]:
        width, height = self._lines_size = self.room
        self._lines = self.draw(self.values, width, height)[:height] if width and height else []
        if self.found.words:
            self.found = self.found._replace(hits=hits(self.document(), self.found.words))
        return self._lines


class Pane(Drawn[Values]):
    """A titled part that can be focused and asked what its numbers mean (``?``)."""

    can_focus = True
    TOPIC: ClassVar[str] = ""
    """Its name; in capitals, its title."""
    MEANINGS: ClassVar[tuple[tuple[str, str], ...]] = ()
    """What it shows, and what each of these means."""
    ROOM: ClassVar[str] = ""
    """Style sheet: how high it is at which size of window. The app has one class for the width (-narrow, -slim, -broad,
    -vast) and one for the height (-flat, -low, -middling, -short, -tall, -towering)."""
    SAMPLED: ClassVar[bool] = False
    """Whether it shows how busy the machine is, which is looked at only while somebody sees it."""
    figured: var[bool] = var(False, init=False)
    """Whether it shows the figures of the field, NFE and RTF, beside plain words."""
    _title = assemble()

    def __init__(self, turn: Turn, *, name: str | None = None) -> None:
        super().__init__(turn, name=name)
        bind(self, self.keys())

    def keys(self) -> list[Binding]:
        """What its keys do."""
        return bindings(on_pane=True)

    def find(self, words: str) -> None:
        """Marks ``words`` wherever they stand, and goes to the first place from here on; an empty text: no more."""
        places, top = hits(self.document(), words), self.place_of(0)
        now = next((at for at, hit in enumerate(places) if hit[0].y >= top), 0)
        self._go_to(Found(words, places, now))

    def go(self, by: int) -> None:
        """To the next place of what is found, or the one before; after the last comes the first."""
        if self.found.hits:
            self._go_to(self.found._replace(now=(self.found.now + by) % len(self.found.hits)))

    def _go_to(self, found: Found) -> None:
        self.found = found
        if found.hits:
            self.reveal(found.hits[found.now][0].y)
        self._drawn()
        self.changed(self.values)
        self.refresh()

    def reveal(self, y: int) -> None:
        """Brings line ``y`` of the document into view, where it is not."""

    def changed(self, values: Values) -> None:
        title = assemble(self.TOPIC.upper(), *self._told(), *self.heading(values), *self.place())
        if not title.is_same(self._title):
            self._title = title
            self.border_title = title

    def watch_figured(self) -> None:
        self.changed(self.values)
        self.refresh_lines()

    def _told(self) -> tuple[str | tuple[str, str], ...]:
        return (" · ", (f"/{self.found.words[:12]} {self.found.told()}", "$accent")) if self.found.words else ()

    def heading(self, values: Values) -> tuple[str | tuple[str, str], ...]:
        """What follows the title on its line."""
        return ()

    def place(self) -> tuple[str | tuple[str, str], ...]:
        """Which part of it is in view, at the end of the title, where not all is."""
        return ()
