"""The last line: the keys that do something now, those first that one wants most. Must not know what they do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from textual import events
from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from predtui.state.turn import Phase, Turn
from predtui.tui import figures
from predtui.tui.action import Action, Moment
from predtui.tui.actions import footer
from predtui.tui.gate import assemble
from predtui.tui.push_to_talk import Way
from predtui.tui.widgets.pane import Drawn, Pane

TALK: dict[Way, tuple[str, str]] = {
    "release": ("hold to talk", "hold to talk"),
    "repeat": ("hold to talk", "hold or tap to talk"),
    "tap": ("press to talk", "press to talk, again to send"),
}
"""What the talk key does while nothing goes on, in a line of ``SLIM`` columns, and in one of ``WIDE``."""
SLIM, WIDE = 60, 110
BACK = ("help", "silence")
"""Beside those that go to and fro, what one looks for while one looks back."""
PHASES: dict[Phase, Moment] = {"listening": "listening", "recognising": "replying", "replying": "replying"}


class Keys(NamedTuple):
    """What decides which keys do anything, and what."""

    on_pane: bool = False
    """Whether a pane has the focus; else the input line has it."""
    read_only: bool = False
    talk: Way = "tap"
    """How the end of talking is told."""
    in_time: bool = False
    """Whether one can go to and fro in time."""
    written: bool = False
    """Whether something stands in the input line."""
    foreseen: bool = False
    """Whether behind it stands how that may go on."""
    phase: Phase = "idle"
    said: bool = False
    failed: bool = False
    """Whether a stage has."""

    @property
    def moments(self) -> frozenset[Moment]:
        return frozenset(self._moments())

    def _moments(self) -> Iterator[Moment]:
        if self.said:
            yield "said"
        if self.in_time:
            yield "back"
            return
        if self.failed:
            yield "failed"
        writing = self.written and not self.on_pane
        if writing:
            yield "written"
        if writing and self.foreseen:
            yield "foreseen"
        if self.phase in PHASES:
            yield PHASES[self.phase]
        elif not writing:
            yield "quiet"


class KeyBar(Drawn[Keys]):
    """Each key can be clicked."""

    def __init__(self, turn: Turn, *, read_only: bool = False) -> None:
        self._keys = Keys(read_only=read_only)
        super().__init__(turn, name="keys")

    def read(self, turn: Turn) -> Keys:
        said = bool(turn.conversation or turn.transcript.text)
        failed = any(status.state == "failed" for status in turn.stages.values())
        self._keys = self._keys._replace(phase=turn.phase, said=said, failed=failed)
        return self._keys

    def follow(self, focused: Widget | None) -> None:
        """Who has the focus from now on."""
        self._now(self._keys._replace(on_pane=isinstance(focused, Pane)))

    def follow_talk_key(self, way: Way) -> None:
        """How the talk key works from now on."""
        self._now(self._keys._replace(talk=way))

    def follow_time(self, in_time: bool) -> None:
        """Whether one can go to and fro in time from now on."""
        self._now(self._keys._replace(in_time=in_time))

    def follow_line(self, written: bool) -> None:
        """Whether something stands in the input line from now on."""
        self._now(self._keys._replace(written=written))

    def follow_suggestion(self, suggestion: str) -> None:
        """How what is typed may go on from now on."""
        self._now(self._keys._replace(foreseen=bool(suggestion)))

    def _now(self, keys: Keys) -> None:
        if keys != self._keys:
            self._keys = self.values = keys
            self.refresh_lines()

    def draw(self, values: Keys, width: int, height: int) -> list[Content]:
        moments = values.moments
        says = {"talk": TALK[values.talk][width >= WIDE]} if width >= SLIM - 2 and "quiet" in moments else {}
        parts = [
            assemble((action.spelled(short=True), ".key"), f" {says.get(action.name, word)}").stylize(
                Style.from_meta({"action": action.action})
            )
            for action in sorted(footer(), key=lambda action: action.rank_at(moments))
            if (word := action.word_at(moments)) and _acts(action, values)
        ]
        return [figures.row(parts, width, gap=2 if width < WIDE else 3)]

    async def on_click(self, event: events.Click) -> None:
        if action := event.style.meta.get("action"):
            await self.app.run_action(action, self.screen.query_one("#prompt"))


def _acts(action: Action, keys: Keys) -> bool:
    """Whether it does something here, other than bring one back to now."""
    if keys.in_time and not keys.read_only:
        return action.in_time or action.name in BACK
    return not (keys.read_only and action.live) and keys.on_pane >= action.on_pane and keys.in_time >= action.in_time
