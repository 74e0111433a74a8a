"""The lines above and below the panes: what is running, and what went wrong."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual.content import Content

from predtui.state.events import Notice, StageStatus
from predtui.state.turn import Turn
from predtui.tui import chart, figures
from predtui.tui.actions import key_of
from predtui.tui.gate import assemble
from predtui.tui.widgets.pane import Drawn
from predtui.tui.widgets.stages import in_order, loaded_model, stage_marks

PLAYING = {"full": "playing", "soft": "softly", "held": "held"}
"""How loud a reply is."""
QUIET_DB, LOUD_DB = -60.0, -15.0
"""The lowest and the highest of the meter: a room in which nobody speaks, and somebody near."""


class Heads(NamedTuple):
    """What the first line shows. ``model`` and ``details``: the model that answers, and what its stage says about it;
    empty while none does. ``recording``: in seconds; None while nobody listens."""

    model: str
    details: str
    statuses: tuple[StageStatus, ...]
    verifier: str
    recording: float | None
    playing: str
    """How loud a reply is; empty: none is heard."""
    levels: tuple[float, ...] = ()
    """Of the microphone, in decibels, while it is listened to."""


class TopBar(Drawn[Heads]):
    """Name, model and verifier on the left; states of the stages, and what is recorded or played, on the right."""

    def __init__(self, turn: Turn, model: str, *, read_only: bool = False) -> None:
        """``model``: what was asked for, shown until one answers. Later, the last that did stands in for none."""
        self._named = Path(model.removesuffix("#")).name  # the only model of a server has no name yet
        self.read_only = read_only
        self._back = False
        super().__init__(turn, name="top")

    def read(self, turn: Turn) -> Heads:
        recording = chart.latest_moment(turn) - turn.started if turn.phase == "listening" else None
        shown = None if recording is None else round(recording, 1)
        return Heads(
            *loaded_model(turn.stages),
            in_order(turn.stages),
            turn.verifier,
            shown,
            turn.loudness if turn.audible else "",
            turn.levels if turn.phase == "listening" and turn.source == "voice" else (),
        )

    def changed(self, values: Heads) -> None:
        self._named = values.model or self._named

    def look_back(self, on: bool) -> None:
        """Whether the panes show what was."""
        self._back = on
        self.refresh_lines()

    def draw(self, values: Heads, width: int, height: int) -> list[Content]:
        name = figures.shorten(values.model or self._named, 28)
        left = [
            assemble(("predtui", ".strong")),
            assemble((name, ".accent" if values.model else ".dim")),
        ]
        if values.details:
            left.append(assemble((figures.shorten(values.details, 48), ".dim")))
        if values.verifier:
            left.append(assemble(("verifier ", ".dim"), values.verifier))
        doing = self._activity(values)
        room = width * 2 // 3 - sum(2 + part.cell_length for part in doing)
        marks = figures.row(stage_marks(values.statuses, all_of_them=width >= 110), room, gap=2)
        ending = figures.row([part for part in (marks, *doing) if part], width, gap=2)
        return [figures.spread(figures.row(left, width - ending.cell_length - 1, gap=2), ending, width)]

    def _activity(self, values: Heads) -> list[Content]:
        if self.read_only:
            return [assemble((" ▶ REPLAY · read only ", "bold $background on $accent"))]
        back = [assemble((" ◀ LOOKING BACK ", "bold $background on $accent"))] if self._back else []
        return [*back, *self._now(values)]

    def _now(self, values: Heads) -> list[Content]:
        if values.recording is not None:
            heard = [assemble((_meter(values.levels), ".good"))] if values.levels else []
            return [*heard, assemble((f" ● REC {values.recording:.1f} s ", "bold $background on $error"))]
        return [assemble((f"♪ {PLAYING[values.playing]}", ".accent"))] if values.playing else []


def _meter(levels: Sequence[float]) -> str:
    """How loud the microphone was lately: a quiet room is a low line, a voice goes up and down."""
    blocks = figures.BLOCKS[1:]
    heights = [(level - QUIET_DB) / (LOUD_DB - QUIET_DB) * (len(blocks) - 1) for level in levels]
    return "".join(blocks[min(len(blocks) - 1, max(0, round(height)))] for height in heights)


class NoticeBar(Drawn[tuple[str, str]]):
    """The newest notice, until Escape dismisses it or another turn begins. A more serious one stays, and an earlier
    warning follows a later one. Stages that have failed come first, for as long as they have. Hidden while empty;
    as high as its words need, up to ``MOST_LINES``."""

    MOST_LINES: ClassVar[int] = 3

    MARKS: ClassVar[dict[str, tuple[str, str]]] = {
        "information": ("ℹ", ".accent"),
        "warning": ("▲", ".fair"),
        "error": ("✗", ".bad"),
    }

    def __init__(self, turn: Turn) -> None:
        self._notice: tuple[str, str] = ("", "")
        self._seen = turn.notices
        self._faults: tuple[StageStatus, ...] = ()
        self._dismissed: tuple[StageStatus, ...] = ()
        self._turn = turn.number
        super().__init__(turn, name="notice")

    def read(self, turn: Turn) -> tuple[str, str]:
        if turn.number != self._turn:
            self._turn = turn.number
            self._notice, self._dismissed = ("", ""), ()
        if turn.notices and turn.notices is not self._seen:
            for notice in self._unseen(turn.notices):
                self._notice = self._with(notice.severity, notice.text)
            self._seen = turn.notices
        faults = [
            status for status in turn.stages.values() if status.state in ("failed", "restarting", "silent", "waiting")
        ]
        self._faults = tuple(sorted(faults, key=lambda status: -status.time))
        return self._shown()

    def _unseen(self, notices: tuple[Notice, ...]) -> tuple[Notice, ...]:
        """Those that came since the last drawing, oldest first."""
        last = self._seen[-1] if self._seen else None
        if notices == self._seen[: len(notices)]:  # one has gone back in time
            return ()
        after = next((index + 1 for index, notice in enumerate(notices) if notice is last), 0)
        return notices[after:]

    def _shown(self) -> tuple[str, str]:
        """The stages that are out, and with them the notice, unless it matters less."""
        dismissed = {_fault(status) for status in self._dismissed}
        faults = [status for status in self._faults if _fault(status) not in dismissed]
        if not faults:
            return self._notice
        worst = "error" if any(status.state == "failed" for status in faults) else "warning"
        standing = [self._notice[1]] if self._notice[0] in ("warning", "error") and self._notice[1] else []
        return max(worst, self._notice[0], key=self._rank), " · ".join([*map(_fault, faults), *standing])

    def _rank(self, severity: str) -> int:
        return ["", *self.MARKS].index(severity)

    def _with(self, severity: str, text: str) -> tuple[str, str]:
        """What is shown once a notice has come."""
        standing, shown = self._notice
        if shown and self._rank(severity) < self._rank(standing):
            return self._notice
        if severity != standing or severity == "information":
            return severity, text
        return severity, " · ".join(_once((text, *shown.split(" · "))))

    def show_notice(self, text: str, severity: str) -> None:
        """Shows a line of the screen's own; an empty one dismisses everything."""
        self._notice = (severity, text) if text else ("", "")
        if not text:
            self._dismissed = self._faults
        self.values = self._shown()
        self.changed(self.values)
        self.refresh_lines()

    def changed(self, values: tuple[str, str]) -> None:
        self.set_class(bool(values[1]), "-shown")
        self.styles.height = max(1, len(self._wrapped(values[1], self.app.size.width - 2)))

    def on_resize(self) -> None:
        self.changed(self.values)

    def draw(self, values: tuple[str, str], width: int, height: int) -> list[Content]:
        mark, style = self.MARKS.get(values[0], self.MARKS["information"])
        first, *others = self._wrapped(values[1], width) or [""]
        return [assemble((f"{mark} ", style), first), *(assemble(f"  {line}") for line in others)]

    def _wrapped(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(text, max(8, width - 2), max_lines=self.MOST_LINES, placeholder=" …")


def _once(texts: Iterable[str]) -> Iterator[str]:
    """The texts without the sentences of an earlier one: two devices may be missing for the same reason."""
    said: set[str] = set()
    for text in texts:
        sentences = [sentence for sentence in re.split(r"(?<=[.!?]) ", text) if sentence not in said]
        said.update(sentences)
        if sentences:
            yield " ".join(sentences)


def _fault(status: StageStatus) -> str:
    state = f"{status.stage} {status.state}" + (f" ({key_of('again')} tries again)" if status.state == "failed" else "")
    return f"{state}: {status.message}" if status.message else state
