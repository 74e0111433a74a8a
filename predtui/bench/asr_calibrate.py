"""``predtui calibrate asr``: the split of CPU threads by which WhisperFlow hears words the soonest (section 4.3).

Encoding and writing one after the other, or as two executors, with so many threads of the encoder; the same few
utterances each, on the real clock. Must not know how the engine runs them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from predtui.asr.whisperflow import FlowRecognizer, load
from predtui.bench.asr import row
from predtui.bench.asr_drive import fed
from predtui.bench.asr_sounds import Recording, pocket
from predtui.bench.report import machine
from predtui.settings import AsrSettings


@dataclass(frozen=True, slots=True)
class Split:
    """One way to use the CPU, and the mean milliseconds from the end of a word to its being stable."""

    threads: int
    pipelined: bool
    word_ms: float
    wer: float


def splits(cores: int) -> list[tuple[int, bool]]:
    """Threads of the encoder, serial or pipelined; a pipeline leaves one core at least to the writer."""
    serial = [(threads, False) for threads in range(1, cores + 1)]
    return serial + [(threads, True) for threads in range(1, max(2, cores))]


def measure(settings: AsrSettings, threads: int, pipelined: bool, sounds: list[Recording]) -> Split:
    """One split over ``sounds``."""
    model, options = load(AsrSettings(model=settings.model, threads=threads, pipelined=pipelined))
    engine = FlowRecognizer(model, options)
    figures = row("", sounds, [fed(engine, sound, real=True) for sound in sounds])
    return Split(threads, pipelined, figures["word_latency_ms"] or float("inf"), figures["wer"])


def main(model: str, threads: int, repeats: int) -> None:
    """Measure every split of ``threads`` cores (0: all), print them, and name the best as settings."""
    settings = AsrSettings(model="" if model == "pocket" else model)
    sounds = pocket(repeats, 0, seed=1)
    cores = threads or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    found = [measure(settings, count, pipelined, sounds) for count, pipelined in splits(cores)]
    best = min(found, key=lambda one: one.word_ms)
    table = Table("encoder threads", "executors", "word ms", "WER %", caption=machine())
    for one in found:
        style = "bold" if one is best else ""
        executors = "two" if one.pipelined else "one"
        table.add_row(str(one.threads), executors, f"{one.word_ms:.0f}", f"{100 * one.wer:.1f}", style=style)
    console = Console()
    console.print(table)
    console.print(f"asr.threads = {best.threads}\nasr.pipelined = {str(best.pipelined).lower()}")
