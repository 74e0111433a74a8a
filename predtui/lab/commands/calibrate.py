"""``predtui calibrate``. Imports nothing heavy before it measures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from predtui.commands.outputs import writable


def calibrate(
    what: Annotated[Literal["llm", "asr"], typer.Argument(help="The language model, or the recogniser.")] = "llm",
    model: Annotated[str, typer.Option(help="pocket, smollm2 (for asr: tiny.en), or the path of a model.")] = "pocket",
    draft: Annotated[
        str, typer.Option(help="Its draft, to measure DuoDecoding's c: pocket-draft, or a GGUF file.")
    ] = "",
    engine: Annotated[str, typer.Option(help="What runs the model.")] = "llamacpp",
    threads: Annotated[int, typer.Option(help="CPU threads of the model; 0 chooses by its size.", min=0)] = 0,
    repeats: Annotated[int, typer.Option(help="Repetitions; the median counts.", min=1)] = 9,
    out: Annotated[Path | None, typer.Option(help="Write the profile here.", callback=writable)] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the recogniser's splits here, as SVG.", callback=writable)
    ] = None,
) -> None:
    """Measure this machine, and write the profile "this-machine". The time of a forward and of a first sound; of the
    recogniser: find the split of CPU threads with the lowest latency."""
    if what == "asr":
        from predtui.lab.bench.asr_calibrate import main as split

        split(model, threads, repeats, plot)
        return
    from predtui.lab.bench.calibrate import main as measure

    measure(model, engine, threads, repeats, out, draft)
