"""What each voice that is here costs: time to the first sound, seconds of work a second of speech, memory.

Each is measured in a process of its own, with its share of threads. Must not know how one makes its sound.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Annotated

import psutil
import typer
from rich.table import Table

from predtui.commands.with_settings import with_settings
from predtui.errors import PredtuiError
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Watch
from predtui.lab.commands.options import Json
from predtui.registry import SYNTHESISERS
from predtui.runtime.shares import share
from predtui.settings import Settings, TtsSettings
from predtui.system.threads import environment
from predtui.tts.base import Synthesizer
from predtui.tts.stage import SPARE, synthesizer

SENTENCES = (
    "Yes, of course.",
    "The capital of France is Paris.",
    "It is a quarter past nine, and the next train leaves in twelve minutes.",
    "If you leave the oven open for a while, the bread will cool more slowly, and its crust stays crisp, as it should.",
)
KEEPS_UP = 0.8
"""Seconds of work a second of speech, at most, of a voice that is proposed: the language model works as well."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians over sentences that were not said before."""

    engine: str
    voice: str
    first_ms: float
    real_time_factor: float
    memory_mb: float


def candidates(options: TtsSettings, tell: Callable[[str], None]) -> Iterator[TtsSettings]:
    """One of each engine that can run here: as the settings have the one that they name, the others as they usually
    are. ``tell`` gets a line on each that cannot."""
    for name in SYNTHESISERS.offered():
        usual = replace(options, engine=name, model="", voice=TtsSettings().voice)
        one = options if name == options.engine else usual
        check = SYNTHESISERS.check(name)
        try:
            if check is not None:
                check(one)
                yield one
        except PredtuiError as error:
            tell(f"{name}: {error}")


def measured(options: TtsSettings, repeats: int) -> Cost:
    """Raises PredtuiError where it cannot be loaded or says nothing."""
    before = psutil.Process().memory_info().rss
    engine = synthesizer(options)
    voice = str(getattr(engine, "title", options.engine))
    list(engine.synthesize("Ready."))
    runs = [_timed(engine, sentence) for _ in range(repeats) for sentence in SENTENCES]
    runs = [run for run in runs if run[1]]
    if not runs:
        raise PredtuiError(f"{voice} says nothing.", "Try another --tts-voice.")
    first, factor = (round(median(run[part] for run in runs), 3) for part in (0, 1))
    return Cost(options.engine, voice, first, factor, round((psutil.Process().memory_info().rss - before) / 1e6, 1))


def _timed(engine: Synthesizer, sentence: str) -> tuple[float, float]:
    """Milliseconds to the first sound, and seconds of work a second of speech; zeros where there is none."""
    start = time.perf_counter()
    first, sound = 0.0, 0
    for chunk in engine.synthesize(sentence):
        first = first or (time.perf_counter() - start if chunk else 0.0)
        sound += len(chunk)
    return first * 1000, (time.perf_counter() - start) * 2 * engine.rate / sound if sound else 0.0


def apart(options: TtsSettings, repeats: int) -> Cost:
    """``measured`` in a process of its own, with its share of threads. Raises PredtuiError as that does."""
    kept = dict(os.environ)
    os.environ.update(environment(share(options)))
    try:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(measured, options, repeats).result()
    except BrokenProcessPool:
        raise PredtuiError(f"The process of --tts {options.engine} has died.", "Is there memory enough?") from None
    finally:
        os.environ.clear()
        os.environ.update(kept)


def proposal(costs: Sequence[Cost]) -> str:
    """A line: the first neural voice that keeps up, in the order of the registry."""
    for cost in costs:
        if cost.engine != SPARE and cost.real_time_factor <= KEEPS_UP:
            return f"{cost.voice} keeps up on this machine: --tts {cost.engine}"
    return f"No neural voice that is here keeps up: --tts {SPARE}"


def table(costs: Sequence[Cost]) -> Table:
    shown = Table(title=f"Voices on {machine()}")
    for column in ("voice", "first sound, ms", "seconds of work a second of speech", "memory, MB"):
        shown.add_column(column, justify="left" if column == "voice" else "right")
    for cost in costs:
        shown.add_row(cost.voice, f"{cost.first_ms:.1f}", f"{cost.real_time_factor:.3f}", f"{cost.memory_mb:.0f}")
    return shown


def main(options: TtsSettings, repeats: int, json_path: Path | None = None) -> int:
    """Measure, print, write; the exit status. Raises PredtuiError where the first voice cannot be measured."""
    screen = console()
    here = list(candidates(options, lambda line: screen.print(line, highlight=False, markup=False, soft_wrap=True)))
    watch: Watch[Cost] = Watch(len(here), "voices", lambda cost: f"{cost.voice}: {cost.first_ms} ms")
    costs = watch(apart(one, repeats) for one in here)
    screen.print(table(costs))
    screen.print(proposal(costs), highlight=False, markup=False)
    found = {"command": command(), "machine": machine(), "rows": [asdict(cost) for cost in costs]}
    return watch.leave(found, json_path)


@with_settings
def cli(
    settings: Settings,
    repeats: Annotated[int, typer.Option(help="Repetitions; the median counts.", min=1)] = 3,
    json: Json = None,
) -> None:
    """``predtui bench tts``."""
    raise typer.Exit(main(settings.tts, repeats, json))
