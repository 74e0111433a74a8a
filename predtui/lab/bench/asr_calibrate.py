"""``predtui calibrate asr``: the split of CPU threads by which WhisperFlow hears words the soonest (section 4.3).

Encoding and writing one after the other, or as two executors, with so many threads of the encoder; the same few
utterances each, on the real clock. Must not know how the engine runs them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from rich.table import Table

from predtui.asr.whisperflow.engine import FlowRecognizer
from predtui.asr.whisperflow.load import load
from predtui.lab.bench.asr import row
from predtui.lab.bench.asr_drive import fed
from predtui.lab.bench.asr_figures import thread_splits
from predtui.lab.bench.asr_sounds import TUNING_SEED, Recording, pocket
from predtui.lab.bench.plots import svg
from predtui.lab.bench.report import console, machine
from predtui.settings import AsrSettings

EXCHANGES = (0, 8)
"""Tokens that the encoder's executor writes before it hands a round over."""


@dataclass(frozen=True, slots=True)
class Split:
    """One way to use the CPU, and the mean milliseconds from the end of a word to its being stable."""

    settings: AsrSettings
    word_ms: float
    wer: float


def splits(cores: int) -> list[AsrSettings]:
    """Threads of the encoder, serial or pipelined; a pipeline leaves one core at least to the writer, and hands rounds
    over before or after the first tokens."""
    serial = [AsrSettings(threads=threads) for threads in range(1, cores + 1)]
    pipelined = [
        AsrSettings(threads=threads, pipelined=True, exchange=exchange)
        for threads in range(1, max(2, cores))
        for exchange in EXCHANGES
    ]
    return serial + pipelined


def measure(settings: AsrSettings, sounds: list[Recording]) -> Split:
    """One split over ``sounds``."""
    engine = FlowRecognizer(*load(settings))
    figures = row("", sounds, [fed(engine, sound, real=True) for sound in sounds])
    return Split(settings, figures["word_latency_ms"] or float("inf"), figures["wer"])


def main(model: str, threads: int, repeats: int, plot: Path | None) -> None:
    """Measure every split of ``threads`` cores (0: all), print them, and name the best as settings. ``plot``: Figure 12
    goes here."""
    sounds = pocket(repeats, 0, TUNING_SEED)
    cores = threads or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found = [measure(replace(split, model=model), sounds) for split in splits(cores)]
    best = min(found, key=lambda one: one.word_ms)
    table = Table("encoder threads", "executors", "exchange after", "word ms", "WER %", caption=machine())
    for one in found:
        used = one.settings
        executors, tokens = ("two", f"{used.exchange} tokens") if used.pipelined else ("one", "–")
        figures = (f"{one.word_ms:.0f}", f"{100 * one.wer:.1f}")
        table.add_row(str(used.threads), executors, tokens, *figures, style="bold" if one is best else "")
    screen = console()
    screen.print(table)
    for key in ("threads", "pipelined", "exchange"):
        screen.print(f"asr.{key} = {str(getattr(best.settings, key)).lower()}")
    if plot is not None:
        plot.write_text(svg(thread_splits([(one.settings, one.word_ms) for one in found])), encoding="utf-8")
