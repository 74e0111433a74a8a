"""When each stage worked, on one axis of time. Knows nothing of what the work was."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content

from predtui.events import Synthesis
from predtui.tui import figures, lanes
from predtui.tui.widgets.pane import Pane
from predtui.turn import Span, Turn

LANES = ("asr", "llm", "tts", "audio")
LABEL = 6
"""Cells in front of the axis."""
END = "┊"
END_WORDS = "▲ end of input"
"""Mark the end of the input, on the lanes and on the axis."""


class Course(NamedTuple):
    """Spans of each lane and the moments that matter, in seconds of the clock; latencies in milliseconds."""

    spans: tuple[tuple[Span, ...], ...]
    origin: float
    latest: float
    input_end: float | None
    first_audio: float | None
    without: float | None
    speech: Synthesis | None


class TimelinePane(Pane[Course]):
    """A lane for each stage, bars as high as the share of 0.1 s spent working; ``┊`` where the input ended."""

    TOPIC = "timeline"

    def read(self, turn: Turn) -> Course:
        return Course(
            tuple(turn.lanes.get(lane, ()) for lane in LANES),
            turn.started if turn.number else _first_start(turn),
            lanes.latest_moment(turn) if turn.busy else _last_end(turn),
            turn.input_ended,
            turn.audio_latency_ms,
            turn.baseline_audio_latency_ms,
            turn.synthesis,
        )

    def heading(self, values: Course) -> tuple[str | tuple[str, str], ...]:
        speech = _speech(values.speech)
        if values.first_audio is None:
            return (" · seconds", *speech)
        first, without = figures.milliseconds(values.first_audio), figures.milliseconds(values.without)
        return (" · seconds · first audio ", (first, "$success"), f" (without: {without})", *speech)

    def draw(self, values: Course, width: int, height: int) -> list[Content]:
        cells = max(1, width - LABEL)
        start = lanes.window(values.latest, values.origin, cells)
        end = None if values.input_end is None else lanes.column_of(values.input_end, start, cells)
        lines = [self._lane(index, values, start, cells, end) for index in range(min(len(LANES), height - 1))]
        return [*lines, _axis(start, values.origin, cells, end)]

    def _lane(self, index: int, values: Course, start: float, cells: int, end: int | None) -> Content:
        bars = lanes.bars(values.spans[index], start, cells)
        if end is not None and bars[end] == " ":
            bars = bars[:end] + END + bars[end + 1 :]
        return Content.assemble((f"{LANES[index]:<{LABEL}}", ".dim"), (bars, f".lane-{LANES[index]}"))


def _speech(speech: Synthesis | None) -> tuple[str, ...]:
    if speech is None:
        return ()
    return (f" · {speech.ready} chunks ready, {speech.released} playing · RTF {speech.real_time_factor:.2g}",)


def _first_start(turn: Turn) -> float:
    """Before the first turn the axis begins with the first bar: a stage warming up."""
    return min((turn.lanes[lane][0].start for lane in LANES if turn.lanes.get(lane)), default=0.0)


def _last_end(turn: Turn) -> float:
    """A turn that is over stops the axis with its last bar."""
    return max((turn.lanes[lane][-1].end for lane in LANES if turn.lanes.get(lane)), default=turn.started)


def _axis(start: float, origin: float, cells: int, end: int | None) -> Content:
    """The axis, with the end of the input named on it where the words fit uncut."""
    words = "" if end is None else END_WORDS if end + len(END_WORDS) <= cells else END_WORDS[0]
    at = end or 0
    line = lanes.axis(start, origin, cells, range(at, at + len(words)))
    return Content.assemble(" " * LABEL, (line[:at], ".dim"), (words, ".accent"), (line[at + len(words) :], ".dim"))
