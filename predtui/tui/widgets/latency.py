"""What speculation gained in the last turn, and at what cost. Knows nothing of how it was measured."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content

from predtui.state.turn import Turn
from predtui.tui import figures
from predtui.tui.gate import assemble
from predtui.tui.widgets.pane import Pane


class Gains(NamedTuple):
    """Latencies in milliseconds from the end of the input; None where nothing was measured yet."""

    first_audio: float | None
    without: float | None
    first_sentence: float | None
    forwards: int | None
    outcome: str
    identical: bool | None
    divergence: int
    logit_gap: float
    parts: tuple[tuple[str, float], ...]


class LatencyPane(Pane[Gains]):
    """From the end of the input to the first sound, with and without speculation, and where the time went."""

    TOPIC = "latency"
    MEANINGS = (
        ("first audio", "milliseconds from the end of input to the first sound"),
        ("without", "the same, without speculation"),
        ("first sentence", "milliseconds from the final prompt to its verified first sentence"),
        ("forwards", "with {figures}: forward evaluations of the model (NFE) spent in that time"),
        ("last check", "outcome of the verification against the final prompt"),
        ("lossless", "whether the reply is, token for token, that of plain decoding; if not, where they part"),
        ("logit gap", "how close that choice was: a small gap is a near-tie between two tokens"),
        ("recogniser … playback", "where the time went, in milliseconds"),
    )
    ROOM = "LatencyPane { height: 1fr; }"

    def read(self, turn: Turn) -> Gains:
        compared = turn.baseline
        return Gains(
            turn.audio_latency_ms,
            turn.baseline_audio_latency_ms,
            turn.ttfs_ms,
            turn.nfetfs,
            turn.outcome or "",
            None if compared is None else compared.identical,
            -1 if compared is None else compared.divergence,
            0.0 if compared is None else compared.logit_gap,
            tuple(turn.breakdown.items()),
        )

    def draw(self, values: Gains, width: int, height: int) -> list[Content]:
        if values.first_audio is None and values.first_sentence is None:
            return assemble(("measured once the first turn is over", ".dim")).wrap(width)
        longest = max(filter(None, (values.first_audio, values.without)), default=0.0)
        gain = figures.gain(values.first_audio, values.without)
        forwards = _line("forwards", figures.NONE if values.forwards is None else f"{values.forwards:>4} NFE")
        lines = [
            _measured("first audio", values.first_audio, longest, width, f".{gain or 'accent'}"),
            _measured("  without", values.without, longest, width, ".fair"),
            _line("first sentence", f"{figures.milliseconds(values.first_sentence):>8}"),
            *([forwards] if self.figured else []),
            _line("last check", values.outcome or figures.NONE),
            _lossless(values),
            *(_line(name, f"{figures.milliseconds(ms):>8}") for name, ms in values.parts),
        ]
        return lines[:height]


def _line(name: str, value: str) -> Content:
    return assemble((f"{name:<16}", ".dim"), value)


def _measured(name: str, ms: float | None, longest: float, width: int, style: str) -> Content:
    line = _line(name, f"{figures.milliseconds(ms):>8} ")
    room = min(24, width - line.cell_length)
    if ms is None or longest <= 0 or room < 4:
        return line
    return assemble(line, ("▇" * max(1, round(ms / longest * room)), style))


def _lossless(values: Gains) -> Content:
    if values.identical is None:
        return _line("lossless", "not compared yet")
    if values.identical:
        return assemble(_line("lossless", ""), ("✓ identical", ".good"))
    detail = f"✗ differs at token {values.divergence}, logit gap {values.logit_gap:.3f}"
    return assemble(_line("lossless", ""), (detail, ".bad"))
