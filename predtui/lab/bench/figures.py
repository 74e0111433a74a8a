"""What the predgen bench shows of its rows: tables for the terminal, charts for a file. Must not know how they came."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from predtui.lab.bench.plots import Chart

FIGURES = {
    "n": ("turns", "{}"),
    "audio_latency_ms": ("audio latency, ms", "{:.1f}"),
    "p50_ms": ("  median", "{:.1f}"),
    "p95_ms": ("  95 %", "{:.1f}"),
    "speedup": ("speedup", "{:.2f}x"),
    "first_turn_speedup": ("  first turns", "{:.2f}x"),
    "slower_turns": ("turns slower by a forward", "{}"),
    "most_lost_ms": ("  most lost, ms", "{:.1f}"),
    "ttfs_ms": ("first sentence, ms", "{:.1f}"),
    "nfetfs": ("its forwards (NFETFS)", "{:.1f}"),
    "nfetfs_1_share": ("  at most 1", "{:.0%}"),
    "foretold_share": ("answered before last word", "{:.0%}"),
    "identical_share": ("identical to plain", "{:.1%}"),
    "input_forwards": ("forwards before the end", "{:.1f}"),
    "foreseen_share": ("prompt answered ahead", "{:.0%}"),
    "wasted_token_share": ("tokens wasted", "{:.0%}"),
    "accuracy": ("replies right", "{:.1%}"),
    "speech_forwards": ("synthesis forwards", "{:.1f}"),
    "speech_positions": ("  positions", "{:.1f}"),
    "speech_turns_accept": ("accepted: turns", "{}"),
    "speech_forwards_accept": ("  forwards", "{:.1f}"),
    "speech_positions_accept": ("  positions", "{:.1f}"),
    "speech_turns_partial": ("partial: turns", "{}"),
    "speech_forwards_partial": ("  forwards", "{:.1f}"),
    "speech_positions_partial": ("  positions", "{:.1f}"),
    "speech_turns_reject": ("rejected: turns", "{}"),
    "speech_forwards_reject": ("  forwards", "{:.1f}"),
    "speech_positions_reject": ("  positions", "{:.1f}"),
}
"""Keys of a row, their names and how they are written (PredGen, table 1, and more)."""
NFE_BINS = ((0, 1), (2, 5), (6, 10), (11, 20), (21, 40), (41, None))
BESIDE = 4
"""Columns of figures in a table."""
_TOP_K = re.compile(r"top(\d+)")

Rows = Sequence[Mapping[str, Any]]
Histograms = Mapping[str, Mapping[int, Mapping[int, int]]]


def latencies(rows: Rows, caption: str) -> list[Table]:
    """A column for each model and method, as many beside each other as a narrow terminal shows; what none of them has
    is left out."""
    several = len({row["model"] for row in rows}) > 1
    tables = []
    for start in range(0, len(rows), BESIDE):
        table, shown = Table("", caption=caption), rows[start : start + BESIDE]
        for row in shown:
            table.add_column(f"{row['model']}\n{row['method']}" if several else row["method"], justify="right")
        for key, (name, form) in FIGURES.items():
            if any(row[key] is not None for row in rows):
                table.add_row(name, *("–" if row[key] is None else form.format(row[key]) for row in shown))
        tables.append(table)
    return tables


def rounds(histograms: Histograms) -> Table:
    """Turns by forwards to the first sentence (PredGen, figure 3b)."""
    table = Table("method", "round", title="turns by NFETFS")
    for low, high in NFE_BINS:
        table.add_column(_bin(low, high), justify="right")
    for method, numbers in histograms.items():
        for number, counts in numbers.items():
            table.add_row(method, str(number), *(f"{share:.0%}" for share in _shares(counts).values()))
    return table


def charts(rows: Rows, histograms: Histograms) -> list[Chart]:
    """Audio latency by model (figure 3a), NFETFS in each round (3b), and K of top-K (4) where there are some."""
    latency: dict[str, dict[str, float]] = {}
    for row in rows:
        latency.setdefault(row["method"], {})[row["model"]] = row["audio_latency_ms"] or 0.0
    shares: dict[int, dict[str, dict[str, float]]] = {}
    for method, numbers in histograms.items():
        for number, counts in numbers.items():
            percent = {name: 100 * share for name, share in _shares(counts).items()}
            shares.setdefault(number, {})[method] = percent
    forwards = "Forwards to the first sentence in round {} of a dialogue, % of turns"
    drawn = [Chart("Audio latency, ms", latency)]
    drawn += [Chart(forwards.format(number), methods) for number, methods in sorted(shares.items())]
    sweep = _sweep(rows)
    return [*drawn, Chart("Speed-up by K of the top-K verifier", sweep)] if sweep else drawn


def _sweep(rows: Rows) -> dict[str, dict[str, float]]:
    """Speed-ups by model and K, K growing."""
    found = [(int(match[1]), row) for row in rows if (match := _TOP_K.fullmatch(row["method"])) and row["speedup"]]
    sweep: dict[str, dict[str, float]] = {}
    for k, row in sorted(found, key=lambda one: one[0]):
        sweep.setdefault(row["model"], {})[f"K = {k}"] = row["speedup"]
    return sweep


def _shares(counts: Mapping[int, int]) -> dict[str, float]:
    whole = sum(counts.values())
    return {
        _bin(low, high): sum(n for nfe, n in counts.items() if low <= nfe and (high is None or nfe <= high)) / whole
        for low, high in NFE_BINS
    }


def _bin(low: int, high: int | None) -> str:
    return f"≥ {low}" if high is None else f"≤ {high}" if low == 0 else f"{low}–{high}"
