"""The state of each stage. Knows nothing of what a stage does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from textual.content import Content

from predtui.state.events import StageStatus
from predtui.state.turn import Turn
from predtui.tui import figures
from predtui.tui.gate import assemble
from predtui.tui.widgets.pane import Pane

MARKS = {
    "starting": ("◌", ".fair"), "ready": ("●", ".good"), "failed": ("✗", ".bad"),
    "waiting": ("◔", ".fair"), "silent": ("◍", ".fair"), "restarting": ("↻", ".fair"), "stopped": ("○", ".dim"),
}  # fmt: skip
LACKING = ("⊘", ".fair")
"""A stage that is ready except for its device."""

ORDER = ("mic", "asr", "llm", "tts", "player")
"""The path of an utterance; other stages follow."""


def in_order(stages: Mapping[str, StageStatus]) -> tuple[StageStatus, ...]:
    """Statuses along the path of an utterance, in whatever order they came."""
    known = [stages[name] for name in ORDER if name in stages]
    return (*known, *(status for name, status in stages.items() if name not in ORDER))


class States(NamedTuple):
    """Statuses in the order of the pipeline, and (stage, percent of one core, resident MB)."""

    statuses: tuple[StageStatus, ...]
    usage: tuple[tuple[str, float, float], ...]


class StagesPane(Pane[States]):
    """One line per stage: state, progress or load, memory, and what it says about itself."""

    TOPIC = "stages"
    MEANINGS = (
        ("◌ starting", "loading, with progress in percent"),
        ("● ready", "working, or waiting for work"),
        ("⊘ no device", "ready, but without a microphone or loudspeaker; {talk} looks for a microphone again"),
        ("⊘ no voice", "ready, but another voice speaks than the one that was chosen"),
        ("◔ waiting", "for a server; its line says why, and Escape gives the turn up"),
        ("◍ silent", "the stage does not respond; if it does not go on within seconds, it is restarted"),
        ("↻ restarting", "the stage died and is being restarted; the turn goes on"),
        ("✗ failed", "the stage is out of action; its line says what to do"),
        ("%, MB", "percent of one core, and resident memory"),
    )
    SAMPLED = True
    ROOM = "StagesPane { height: 1fr; }"

    def read(self, turn: Turn) -> States:
        return States(in_order(turn.stages), turn.usage.stages)

    def draw(self, values: States, width: int, height: int) -> list[Content]:
        if not values.statuses:
            return [assemble(("starting…", ".dim"))]
        loads = {name: (share, resident) for name, share, resident in values.usage}
        lines = [stage_line(status, loads.get(status.stage), width) for status in values.statuses]
        return lines[:height]


def stage_line(status: StageStatus, load: tuple[float, float] | None, width: int) -> Content:
    mark, style = _mark(status)
    state = _lacking(status) if _lacks(status) else status.state
    line = assemble((f"{mark} ", style), f"{status.stage:<7}", (f"{state:<11}", style))
    if status.state == "starting" and status.progress >= 0:
        line += assemble((figures.meter(status.progress, 8), ".fair"), f" {status.progress * 100:.0f} % ")
    elif load is not None:
        line += f"{figures.percent(load[0]):>6} {figures.memory(load[1]):>8} "
    room = width - line.cell_length - 1
    said = figures.shorten(status.message, room) if room >= 6 else ""
    return line + assemble(" ", (said, ".dim")) if said else line


def stage_marks(statuses: tuple[StageStatus, ...], all_of_them: bool) -> list[Content]:
    """Short states for the header: every stage, or only those that are not simply ready with all they need."""
    marks = []
    for status in statuses:
        if status.state in ("ready", "stopped") and not _lacks(status) and not all_of_them:
            continue
        mark, style = _mark(status)
        detail = f" {status.progress * 100:.0f} %" if status.state == "starting" and status.progress >= 0 else ""
        marks.append(assemble(f"{status.stage} ", (mark + detail, style)))
    return marks


def lacks_device(stages: Mapping[str, StageStatus], name: str) -> bool:
    """Whether stage ``name`` is up, but has no device to work with."""
    return name in stages and _lacks(stages[name])


def loaded_model(stages: Mapping[str, StageStatus]) -> tuple[str, str]:
    """The name of the model that answers now, and what its stage says about it; both empty while none is ready."""
    status = stages.get("llm")
    name, _, rest = status.message.partition(" · ") if status and status.state == "ready" else ("", "", "")
    return name, rest


def _lacks(status: StageStatus) -> bool:
    return status.state == "ready" and bool(status.lacks)


def _lacking(status: StageStatus) -> str:
    return "no voice" if status.lacks == "voice" else "no device"


def _mark(status: StageStatus) -> tuple[str, str]:
    return LACKING if _lacks(status) else MARKS[status.state]
