"""What a sentence of Zonos costs here: milliseconds per frame, time to the first chunk, memory, by kind of weights.

On a checkpoint with random weights of a chosen size, or on a real one. Must not know how a step is computed.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import psutil
import torch
import typer
from rich.table import Table

from predtui.commands.outputs import creatable
from predtui.commands.with_settings import with_settings
from predtui.errors import PredtuiError
from predtui.lab.bench import zonos_random
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json
from predtui.settings import Settings, TtsSettings
from predtui.tts.zonos.load import load
from predtui.tts.zonos.synthesizer import ZonosSynthesizer

SENTENCES = (
    "The capital of France is Paris, and it has been so for a very long time.",
    "Paris is the capital of France, and it will be so for a very long time.",
)
"""Said in turn: of one that was said just before, nothing would have to be read."""
MB = 2**20


@dataclass(frozen=True, slots=True)
class ZonosBench:
    """``size`` of random weights, where the settings name no checkpoint of their own. Each repeat makes ``frames`` of
    a sentence at most."""

    settings: TtsSettings
    size: str = "small"
    frames: int = 60
    repeats: int = 3
    keep: Path | None = None
    """Where the random checkpoint stays; None: nowhere."""


@dataclass(slots=True)
class Timings:
    """Milliseconds of everything that was done of one sentence."""

    read: float = 0.0
    first_chunk: float = 0.0
    frames: list[float] = field(default_factory=list)
    chunks: list[float] = field(default_factory=list)
    state_mb: float = 0.0


def variants(settings: TtsSettings) -> Iterator[tuple[str, TtsSettings]]:
    """Ways to run the same checkpoint on this machine."""
    if torch.cuda.is_available():
        yield "bfloat16, CUDA graphs", replace(settings, graphs=True, int8=False)
        yield "bfloat16", replace(settings, graphs=False, int8=False)
    else:
        yield "float32", replace(settings, int8=False)
    yield "int8 weights", replace(settings, int8=True)


def measured(name: str, settings: TtsSettings, frames: int, repeats: int) -> dict[str, Any]:
    """One row: medians over the repeats, of which the first, that warms up, does not count. Raises PredtuiError where
    the checkpoint cannot be loaded, or says nothing."""
    gc.collect()
    engine = load(settings)
    runs = [timed(engine, SENTENCES[number % 2], frames) for number in range(repeats + 1)][1:]
    runs = [run for run in runs if run.chunks]
    if not runs:
        raise PredtuiError("These weights end a sentence before its first chunk.", "Try another --tts-seed.")
    frame = median(ms for run in runs for ms in run.frames)
    chunk = median(ms for run in runs for ms in run.chunks)
    of_chunk = engine.chunk_frames
    return {
        "variant": name,
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
        "read_ms": round(median(run.read for run in runs), 2),
        "ms_a_frame": round(frame, 3),
        "ms_a_chunk_decoded": round(chunk, 3),
        "first_chunk_ms": round(median(run.first_chunk for run in runs), 1),
        "real_time_factor": round((frame * of_chunk + chunk) / (of_chunk / engine.frame_rate * 1000), 3),
        "weights_mb": round(engine.nbytes / MB, 1),
        "state_mb": round(max(run.state_mb for run in runs), 2),
        "process_mb": round(psutil.Process().memory_info().rss / MB, 1),
        "gpu_peak_mb": round(torch.cuda.max_memory_allocated() / MB, 1) if torch.cuda.is_available() else None,
    }


def timed(engine: ZonosSynthesizer, sentence: str, frames: int) -> Timings:
    """One sentence, up to so many frames."""
    took = Timings()
    start = time.perf_counter()
    speech = engine.synthesize(sentence)
    took.read = _ms(start)
    while len(took.frames) < frames or not took.chunks:
        before = time.perf_counter()
        chunk = next(speech, None)
        if chunk is None:
            break
        (took.chunks if chunk else took.frames).append(_ms(before))
        if chunk and len(took.chunks) == 1:
            took.first_chunk = _ms(start)
    state = speech.save()
    took.state_mb = state.nbytes / MB
    return took


def _ms(since: float) -> float:
    return (time.perf_counter() - since) * 1000


def result(
    bench: ZonosBench, tell: Callable[[str], None] = lambda line: None, gather: Gather[dict[str, Any]] = list
) -> dict[str, Any]:
    """The JSON; ``tell`` gets a line beforehand: what it will take. Raises PredtuiError as ``measured``
    does, and where disk or memory do not suffice."""
    with tempfile.TemporaryDirectory() as folder:
        settings = bench.settings
        if bench.size:
            place, size = bench.keep or Path(folder), zonos_random.size_named(bench.size)
            needs = zonos_random.needs(size)
            tell(
                f"Random weights, {bench.size}: {needs.disk / zonos_random.GB:.2f} GB of disk in {place}, up to "
                f"{needs.memory / zonos_random.GB:.1f} GB of memory."
            )
            needs.check(place)
            checkpoint, codec = zonos_random.write(place, size)
            settings = replace(settings, model=str(checkpoint), codec=str(codec))
        rows = gather(measured(name, each, bench.frames, bench.repeats) for name, each in variants(settings))
    return {
        "command": command(),
        "machine": machine(torch.get_num_threads()),
        "models": [f"random weights, {bench.size}" if bench.size else settings.model],
        "rows": rows,
    }


def as_line(row: dict[str, Any]) -> str:
    """A variant in a line."""
    return f"{row['variant']}: {row['ms_a_frame']} ms per frame, first chunk after {row['first_chunk_ms']} ms"


def main(bench: ZonosBench, json_path: Path | None = None) -> int:
    """Measure, print, write; the exit status."""
    screen = console()
    watch = Watch(len(list(variants(bench.settings))), "variants", as_line)
    found = result(bench, lambda line: screen.print(line, soft_wrap=True), watch)
    table = Table(title=f"Zonos, {found['models'][0]}, on {found['machine']}")
    rows = found["rows"]
    table.add_column("")
    for row in rows:
        table.add_column(row["variant"], justify="right")
    for name in [name for row in rows[:1] for name in row if name != "variant"]:
        table.add_row(name.replace("_", " "), *("–" if row[name] is None else str(row[name]) for row in rows))
    screen.print(table)
    return watch.leave(found, json_path)


@with_settings
def cli(
    settings: Settings,
    size: Annotated[
        str, typer.Option(help="Random weights: tiny, small, medium, published; empty: the checkpoint of the settings.")
    ] = "small",
    frames: Annotated[int, typer.Option(help="Frames of the sentence, at most.", min=1)] = 60,
    repeats: Annotated[int, typer.Option(help="Repetitions; the median counts.", min=1)] = 3,
    keep: Annotated[
        Path | None, typer.Option(help="Leave the random checkpoint in this folder.", callback=creatable)
    ] = None,
    json: Json = None,
) -> None:
    """``predtui bench zonos``."""
    raise typer.Exit(main(ZonosBench(settings.tts, size, frames, repeats, keep), json))
