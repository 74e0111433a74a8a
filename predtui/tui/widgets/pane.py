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
from textual.events import Click
from textual.geometry import Offset, Region
from textual.reactive import var
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget

from predtui.state.turn import Turn
from predtui.tui.actions import bind, bindings, scrolling
from predtui.tui.finding import Found, hits
from predtui.tui.gate import assemble
from predtui.tui.wrapping import extracted

Values = TypeVar("Values", bound=Hashable)


class Drawn(Widget, Generic[Values]):
    """A widget whose content is ``draw(read(turn))``, in styles named ``.kept`` and so on that the style sheet sets."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "kept", "new", "rejected", "stable", "tentative", "dim", "strong", "good", "fair", "bad",
        "accent", "code", "key", "saying", "found", "found-now",
        "row-asr", "row-encode", "row-write", "row-llm", "row-target", "row-draft",
        "row-tts", "row-audio",
    }  # fmt: skip

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

    def changed(self, values: Values) -> None:
        """For what lies outside the content, such as the title."""

    def on_mount(self) -> None:
        self.changed(self.values)

    def render_line(self, y: int) -> Strip:
        self._dirty_regions.clear()
        if self._lines_size != self.content_size:
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
            style = Style.from_styles(self.get_component_styles("found-now" if now else "found"))
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
        width, height = self._lines_size = self.content_size
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


class TailPane(Pane[Values]):
    """A pane of lines that shows the newest, and scrolls back with the arrow and page keys or the wheel. Scrolled back,
    what is in view stays there while lines are added, and the title counts the newer ones."""

    back: int = 0
    """Lines scrolled back from the newest."""
    _first = 0
    """The line on the first row."""
    _drawn_before = (0, 0)
    """Width, and number of lines at it."""

    def keys(self) -> list[Binding]:
        return [*super().keys(), *scrolling()]

    @abstractmethod
    def lines(self, values: Values, width: int) -> list[Content]:
        """All lines, oldest first, each within the width."""

    def draw(self, values: Values, width: int, height: int) -> list[Content]:
        lines = self.lines(values, width)
        self.hold(len(lines), width, height)
        end = len(lines) - self.back
        self._first = max(0, end - height)
        return lines[self._first : end]

    def document(self) -> list[Content]:
        return self.lines(self.values, self._lines_size[0])

    def place_of(self, y: int) -> int:
        return self._first + y

    def hold(self, count: int, width: int, height: int) -> None:
        """Keeps in view what is, now that there are ``count`` lines, and within them."""
        before, self._drawn_before = self._drawn_before, (width, count)
        if self.back and before[0] == width:
            self.back += count - before[1]
        self.back = max(0, min(self.back, count - height))

    def reveal(self, y: int) -> None:
        height = self._lines_size[1]
        if not self.place_of(0) <= y < self.place_of(0) + height:
            self.back = len(self.document()) - y - height // 2

    def place(self) -> tuple[str | tuple[str, str], ...]:
        return (" · ", (f"{self.back} newer line{'s' * (self.back != 1)}", "$accent")) if self.back else ()

    def refresh_lines(self) -> None:
        super().refresh_lines()
        self.changed(self.values)

    def action_back(self, count: int) -> None:
        self.back = max(0, self.back + count)
        self.refresh_lines()

    def action_newest(self) -> None:
        self.back = 0
        self.refresh_lines()

    def on_resize(self) -> None:
        self.refresh_lines()

    def on_click(self, event: Click) -> None:
        """On the title, which says how many lines are newer: to the newest."""
        if self.back and event.y == 0 and event.get_content_offset(self) is None:
            self.action_newest()

    def on_mouse_scroll_up(self) -> None:
        self.action_back(2)

    def on_mouse_scroll_down(self) -> None:
        self.action_back(-2)
