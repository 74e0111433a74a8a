"""One thing that a person can do: its keys, its names, and where and when it acts. Knows none in particular."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from textual.binding import Binding

SPELLED = {
    "escape": "Esc", "question_mark": "?", "slash": "/", "space": "Space", "pageup": "PgUp", "pagedown": "PgDn",
    "left": "←", "right": "→", "up": "↑", "down": "↓",
    "full_stop": ".", "comma": ",", "left_square_bracket": "[", "right_square_bracket": "]",
    "less_than_sign": "<", "equals_sign": "=", "greater_than_sign": ">",
}  # fmt: skip
"""What Textual calls a key → what is written on it."""


def spelled(key: str, short: bool = False) -> str:
    """A key as written on it: Ctrl+T, or ^T in ``short``; F2; Esc; y."""
    *held, last = key.split("+")
    last = SPELLED.get(last, last if len(last) == 1 and not held else last[:1].upper() + last[1:])
    if short and held == ["ctrl"]:
        return f"^{last}"
    return "+".join([*(part.capitalize() for part in held), last])


Moment = Literal["quiet", "written", "foreseen", "listening", "replying", "back", "said", "failed"]
"""What goes on: nothing; something stands in the input line, which has the focus; behind it stands how it may go on;
one talks; a reply is awaited or heard; one looks back; and, beside these, something has been said; a stage has failed.
"""

Group = Literal["talk", "conversation", "time", "engines", "panes", "screen"]
"""Under which an action stands in the palette, in this order."""


@dataclass(frozen=True, slots=True)
class Action:
    """``name``: what a binding calls it. ``keys``: as Textual names them, with commas; empty: none. ``title``: in the
    palette; empty: not there. ``word``: in the footer; empty: not there, but at the moments of ``now``. ``run``:
    "module:function" in ``predtui.tui``, which takes the app; empty: the app's own ``action_NAME``."""

    name: str
    keys: str
    title: str
    meaning: str
    word: str = ""
    run: str = ""
    live: bool = False
    """Whether it asks something of an engine, which a recording does not have."""
    priority: bool = False
    """Whether its keys act wherever the focus is, on open pages too."""
    on_pane: bool = False
    """Whether its keys act only while a pane has the focus: elsewhere, they are letters."""
    in_time: bool = False
    """Whether it goes to and fro in time, and its keys act only where one can, whatever has the focus."""

    on_line: bool = False
    """Whether it is the input line's own, which has its key."""
    group: Group | None = None
    """In the palette; none is needed where ``on_pane`` or ``in_time`` say it."""
    now: Mapping[Moment, str] = field(default_factory=dict)
    """Moments at which it is among what one wants most, and its word in the footer then."""
    needs: Moment | None = None
    """Without it, it is not in the footer."""

    @property
    def heading(self) -> Group:
        """Under which it stands in the palette."""
        return self.group or ("time" if self.in_time else "panes" if self.on_pane else "screen")

    def word_at(self, moments: Collection[Moment]) -> str:
        """In the footer; empty: not there."""
        if not self.keys or (self.needs and self.needs not in moments):
            return ""
        return next((word for moment, word in self.now.items() if moment in moments), self.word)

    def rank_at(self, moments: Collection[Moment]) -> int:
        """Where in the footer: those of the moment, those of the place, all others."""
        return 0 if any(moment in moments for moment in self.now) else 1 if self.on_pane or self.in_time else 2

    @property
    def action(self) -> str:
        """As Textual calls it."""
        if self.on_line:
            return self.name
        return f"app.perform('{self.name}')" if self.run else f"app.{self.name}"

    @property
    def bindings(self) -> Iterator[Binding]:
        for key in filter(None, self.keys.split(",")):
            told = self.word or self.title or self.meaning
            yield Binding(key, self.action, told, show=False, priority=self.priority or self.in_time)

    def spelled(self, short: bool = False) -> str:
        """Its first key, as written on it: Ctrl+T, or ^T in ``short``."""
        return spelled(self.keys.split(",")[0], short)
