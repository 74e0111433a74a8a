"""``predtui calibrate``. Imports nothing heavy before it measures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from predtui.commands.outputs import writable


def calibrate(
    what: Annotated[Literal["llm", "asr"], typer.Argument(help="The language model, or the recogniser.")] = "llm",
    model: Annotated[str, typer.Option(help="pocket, smollm2 (for asr: tiny.en), or the path of a model.")] = "pocket",
    draft: Annotated[str, typer.Option(help="Its draft, to tell DuoDecoding's c: pocket-draft, or a GGUF file.")] = "",
    engine: Annotated[str, typer.Option(help="What runs the model.")] = "llamacpp",
    threads: Annotated[int, typer.Option(help="CPU threads of the model; 0 suits its size.", min=0)] = 0,
    repeats: Annotated[int, typer.Option(help="The median of so many is taken.", min=1)] = 9,
    out: Annotated[Path | None, typer.Option(help="Write the profile here.", callback=writable)] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the recogniser's splits here, as SVG.", callback=writable)
    ] = None,
) -> None:
    """Measure what this machine takes for a forward and a first sound: the profile "this-machine". Of the recogniser:
    which split of the CPU's threads hears words the soonest."""
    if what == "asr":
        from predtui.lab.bench.asr_calibrate import main as split

        split(model, threads, repeats, plot)
        return
    from predtui.lab.bench.calibrate import main as measure

    measure(model, engine, threads, repeats, out, draft)
