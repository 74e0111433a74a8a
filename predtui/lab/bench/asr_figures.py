"""What the recognition bench shows: a table for the terminal; WhisperFlow's Figures 7, 8, 10 and 11, and 12 of
``predtui calibrate asr``, for a file. Must not know how the figures came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from predtui.lab.bench.plots import Chart, Scatter
from predtui.settings import AsrSettings

COLUMNS = {
    "method": "method", "wer": "WER %", "word_latency_ms": "word", "p95_ms": "p95", "final_ms": "final", "rtf": "RTF",
    "encoder_gflops": "GFLOP", "average_beam": "beam", "reduce_ratio": "1 beam", "forwards_a_round": "fwd",
    "round_ms": "round",
}  # fmt: skip


def table(result: Mapping[str, Any]) -> Table:
    """The rows for a terminal."""
    caption = f"word, p95, final, round: ms; GFLOP, fwd: a round\n{result['machine']}, {result['clock']} clock"
    drawn = Table(*COLUMNS.values(), title="streaming Whisper", caption=caption)
    for one in result["rows"]:
        cells = {**one, "wer": round(100 * one["wer"], 2)}
        drawn.add_row(*("–" if cells[key] is None else str(cells[key]) for key in COLUMNS))
    return drawn


def charts(result: Mapping[str, Any]) -> list[Chart | Scatter]:
    """Latency by method (Figures 7 and 10), errors against latency by step (8), the encoder's work (11)."""
    rows = result["rows"]
    drawn: list[Chart | Scatter] = []
    for key, title in (
        ("word_latency_ms", "mean per-word latency, ms"),
        ("encoder_gflops", "encoder work a round, GFLOP"),
    ):
        bars = {row["method"]: {"": row[key]} for row in rows if row[key] is not None}
        drawn += [Chart(title, bars)] if bars else []
    points: dict[str, list[tuple[float, float, str]]] = {}
    for row in rows:
        if row["step_ms"] is not None and row["word_latency_ms"] is not None:
            point = (row["word_latency_ms"], 100 * row["wer"], f"{row['step_ms']:g}")
            points.setdefault(row["method"].partition("@")[0], []).append(point)
    gold = {row["method"]: 100 * row["wer"] for row in rows if row["step_ms"] is None}
    if points:
        drawn.insert(1, Scatter("word error rate, % (numbers: step, ms)", "mean per-word latency, ms", points, gold))
    return drawn


def thread_splits(found: Sequence[tuple[AsrSettings, float]]) -> list[Chart]:
    """Milliseconds to a word by threads of the encoder and by what the writing executor is handed (Figure 12)."""
    bars: dict[str, dict[str, float]] = {}
    for used, milliseconds in found:
        name = f"two executors, handed over after {used.exchange} tokens" if used.pipelined else "one executor"
        bars.setdefault(name, {})[f"threads of the encoder: {used.threads}"] = milliseconds
    return [Chart("mean per-word latency, ms", bars)]
