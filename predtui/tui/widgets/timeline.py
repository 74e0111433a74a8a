"""When each stage worked, on one axis of time. Knows nothing of what the work was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual.content import Content

from predtui.state.events import Synthesis
from predtui.state.turn import Span, Turn
from predtui.tui import figures, lanes
from predtui.tui.widgets.pane import Pane

LANES = ("asr", "llm", "tts", "audio")
PARTS = {"asr": ("encode", "write"), "llm": ("target", "draft")}
"""The lanes, and what the work of one consists of where its stage tells: rounds, and drafting."""
END = "┊"
END_WORDS = "▲ end of input"
"""Mark the end of the input, on the lanes and on the axis."""
GAIN = {"good": "$success", "bad": "$error", "": "$foreground"}
"""Colours of a title for what speculation gained."""

Lanes = tuple[tuple[str, tuple[Span, ...]], ...]


class Course(NamedTuple):
    """Spans of each lane and the moments that matter, in seconds of the clock; latencies in milliseconds."""

    lanes: Lanes
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
            tuple((lane, turn.lanes.get(lane, ())) for lane in _lanes(turn)),
            turn.started if turn.number else _first_start(turn),
            lanes.latest_moment(turn) if turn.busy else _last_end(turn),
            turn.input_ended,
            turn.audio_latency_ms,
            turn.baseline_audio_latency_ms,
            turn.synthesis,
        )

    def changed(self, values: Course) -> None:
        super().changed(values)
        self.set_class(len(values.lanes) > len(LANES), "-parts")

    def heading(self, values: Course) -> tuple[str | tuple[str, str], ...]:
        speech = _speech(values.speech)
        if values.first_audio is None:
            return (" · seconds", *speech)
        first, without = figures.milliseconds(values.first_audio), figures.milliseconds(values.without)
        style = GAIN[figures.gain(values.first_audio, values.without)]
        return (" · seconds · first audio ", (first, style), f" (without: {without})", *speech)

    def draw(self, values: Course, width: int, height: int) -> list[Content]:
        label = 1 + max(len(lane) for lane, _ in values.lanes)
        cells = max(1, width - label)
        start = lanes.window(values.latest, values.origin, cells)
        end = None if values.input_end is None else lanes.column_of(values.input_end, start, cells)
        shown = _fitting(values.lanes, height - 1)
        lines = [_lane(f"{lane:<{label}}", spans, start, cells, end) for lane, spans in shown]
        return [*lines, _axis(" " * label, start, values.origin, cells, end)]


def _lanes(turn: Turn) -> tuple[str, ...]:
    return tuple(one for lane in LANES for one in (lane, *(part for part in PARTS.get(lane, ()) if part in turn.lanes)))


def _fitting(every: Lanes, room: int) -> Lanes:
    """``every`` lane that fits into ``room``: parts stand for their whole where need be, the last one's first; then the
    whole for the parts of the first."""
    names, gone = [lane for lane, _ in every], set[str]()
    for whole, parts in reversed(PARTS.items()):
        if len(names) - len(gone) > room and set(parts) & set(names):
            gone.add(whole)
    if len(names) - len(gone) > room and whole in gone:
        gone = (gone - {whole}) | set(parts)
    return tuple(pair for pair in every if pair[0] not in gone)[:room]


def _lane(label: str, spans: Sequence[Span], start: float, cells: int, end: int | None) -> Content:
    bars = lanes.bars(spans, start, cells)
    if end is not None and bars[end] == " ":
        bars = bars[:end] + END + bars[end + 1 :]
    return Content.assemble((label, ".dim"), (bars, f".lane-{label.rstrip()}"))


def _speech(speech: Synthesis | None) -> tuple[str, ...]:
    if speech is None:
        return ()
    return (f" · {speech.ready} chunks ready, {speech.released} sent · RTF {speech.real_time_factor:.2g}",)


def _first_start(turn: Turn) -> float:
    """Before the first turn the axis begins with the first bar: a stage warming up."""
    return min((turn.lanes[lane][0].start for lane in LANES if turn.lanes.get(lane)), default=0.0)


def _last_end(turn: Turn) -> float:
    """A turn that is over stops the axis with its last bar."""
    return max((turn.lanes[lane][-1].end for lane in LANES if turn.lanes.get(lane)), default=turn.started)


def _axis(margin: str, start: float, origin: float, cells: int, end: int | None) -> Content:
    """The axis, with the end of the input named on it where the words fit uncut."""
    words = "" if end is None else END_WORDS if end + len(END_WORDS) <= cells else END_WORDS[0]
    at = end or 0
    line = lanes.axis(start, origin, cells, range(at, at + len(words)))
    return Content.assemble(margin, (line[:at], ".dim"), (words, ".accent"), (line[at + len(words) :], ".dim"))
