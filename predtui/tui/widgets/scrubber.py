"""Where one is in time: a line with the position, the length, the speed, and where turns begin and verdicts fall.

Asks the player itself, ten times a second. Must not know keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from textual import events
from textual.content import Content

from predtui.state.player import Player, Position
from predtui.state.turn import Turn
from predtui.tui.gate import assemble
from predtui.tui.widgets.pane import Drawn

LOOK = 0.1
"""Seconds between two looks at the player."""
HEAVY, LIGHT = "━┷┿", "─┴┼"
"""The track up to where one is, and behind: a cell of it, one with a verdict, one with the beginning of a turn."""
WIDE, WIDEST = 76, 110
"""Cells from which the line has room for a word, and for the number of the event, too: ..."""
WORDS, COUNT = 17, 14
"""... as many cells, whatever is said, so that the track does not move."""


class Scrubbed(NamedTuple):
    """``turns``, ``verdicts``: moments. ``last``: what came last. ``sound``: why nothing is heard, if so."""

    position: Position
    turns: tuple[float, ...]
    verdicts: tuple[float, ...]
    last: str
    sound: str
    live: bool


class ScrubBar(Drawn[Scrubbed | None]):
    """Hidden while one is nowhere but now. A click goes there, and so does dragging."""

    def __init__(self, turn: Turn) -> None:
        self._player: Player | None = None
        self._sound: Callable[[], str] = str
        self._live = False
        self._track = (0, 1)
        """The cell with which the track begins, and how many it has."""
        super().__init__(turn, name="scrub")

    def follow(self, player: Player | None, sound: Callable[[], str] = str, live: bool = False) -> None:
        """Shows where ``player`` is; None: hides. ``live``: the end of the tape is now."""
        self._player, self._sound, self._live = player, sound, live
        self.set_class(player is not None, "-shown")
        self.look()

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(LOOK, self.look)

    def look(self) -> None:
        """Draws the line again where one is elsewhere."""
        if (values := self._values()) != self.values:
            self.values = values
            self.refresh_lines()

    def read(self, turn: Turn) -> Scrubbed | None:
        return self._values()

    def _values(self) -> Scrubbed | None:
        if self._player is None:
            return None
        tape, position = self._player.tape, self._player.position
        last = type(tape[position.place - 1]).__name__ if position.place else "beginning"
        shown = position._replace(moment=round(position.moment, 1), jumps=0)
        return Scrubbed(shown, tape.marks("turn"), tape.marks("verdict"), last, self._sound(), self._live)

    def draw(self, values: Scrubbed | None, width: int, height: int) -> list[Content]:
        if values is None:
            return []
        left, right = _before(values, width), _behind(values, width)
        cells = max(1, width - left.cell_length - right.cell_length - 2)
        self._track = (left.cell_length + 1, cells)
        return [left + " " + _track(values, cells) + " " + right]

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()
        self._go(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self.app.mouse_captured is self:
            self._go(event)

    def on_mouse_up(self) -> None:
        self.release_mouse()

    def _go(self, event: events.MouseEvent) -> None:
        at = event.get_content_offset_capture(self).x - self._track[0]
        if self._player and at >= 0:
            self._player.seek(self._player.tape.seconds * min(1.0, (at + 0.5) / self._track[1]))
            self.look()


def clock(seconds: float) -> str:
    """``0:03.2``, ``12:40.0``: minutes and seconds, as a player counts them."""
    tenths = round(seconds * 10)
    return f"{tenths // 600}:{tenths // 10 % 60:02}.{tenths % 10}"


def _before(values: Scrubbed, width: int) -> Content:
    position = values.position
    mark = ("▶", ".good") if position.playing else ("❚❚", ".fair")
    length = f" / {clock(position.seconds)}" if width >= WIDE // 2 else ""
    return assemble(mark, f" {clock(position.moment)}", (length, ".dim"))


def _behind(values: Scrubbed, width: int) -> Content:
    position = values.position
    speed = f"{position.speed:g}x"
    if width < WIDE:
        return assemble(speed)
    silent = values.sound or ("" if position.speed == 1 else "sound at 1x only")
    said = values.last if values.live or not position.playing else silent or "♪"
    count = f"{position.place} of {position.events}" if width >= WIDEST else ""
    room = WORDS + (COUNT if count else 0)
    return assemble(speed, (f"{f'{said}  {count}'.rstrip():>{room}}", ".dim"))


def _track(values: Scrubbed, cells: int) -> Content:
    """Heavy as far as one is; ``┼`` where a turn begins, ``┴`` where a verdict falls."""
    seconds = values.position.seconds or 1.0
    at = min(cells - 1, int(values.position.moment / seconds * cells))
    heavy, light = (_line(values, cells, seconds, marks) for marks in (HEAVY, LIGHT))
    return assemble((heavy[:at], ".strong"), ("●", ".accent"), (light[at + 1 :], ".dim"))


def _line(values: Scrubbed, cells: int, seconds: float, marks: str) -> str:
    line = [marks[0]] * cells
    _tick(line, values.verdicts, seconds, marks[1])
    _tick(line, values.turns, seconds, marks[2])
    return "".join(line)


def _tick(line: list[str], moments: Sequence[float], seconds: float, mark: str) -> None:
    for moment in moments:
        line[min(len(line) - 1, int(moment / seconds * len(line)))] = mark
