"""What a word costs after a long conversation: forwards, tokens and milliseconds, word by word, on any model.

Drives the "llm" stage itself, as a host does, and waits for each word's candidate before the next comes; nothing is
done in idle time. Where no model is named, random weights of a published size are. Must not know of sound.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.table import Table

from predtui.clock import RealClock
from predtui.errors import PredtuiError
from predtui.lab.bench.halts import halts
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json, Limit, Threads
from predtui.lab.random_gguf import SIZES, write
from predtui.llm.base import LoadedModel, Stale
from predtui.llm.halt import Halt
from predtui.llm.load import load
from predtui.models.shipped import asset
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage
from predtui.state.events import Candidate, Event, Message, Transcript, TurnStarted
from predtui.state.stage import StageContext

REVISED = 4
"""Every so many-th word takes the one before it back, as recognisers do."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a word, or of what stands before the first (``said`` empty): what was done until its ``first`` candidate was
    there, and ``all`` that was done for it. ``history``: tokens of the conversation before."""

    history: int
    said: str
    first_forwards: int
    first_tokens: int
    first_ms: float
    all_forwards: int
    all_tokens: int
    all_ms: float


def run(
    model: str, histories: Sequence[int], limit: int, options: SpeculationOptions, gather: Gather[Cost] = list
) -> dict[str, Any]:
    """A row for each length of history: means over its words, and the reading of what stands before them apart.
    ``model``: a name, a path, or a size of ``random_gguf.SIZES``. Raises PredtuiError as the stage does."""
    halted: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = _written(model, Path(folder))
        costs = gather(_typed(path, histories, limit, options, halted))
    lengths = dict.fromkeys(cost.history for cost in costs)
    rows = [_row([cost for cost in costs if cost.history == length]) for length in lengths]
    return {
        "command": command(),
        "machine": machine(options.threads),
        "model": model,
        "halted": halted,
        "rows": rows,
        "words": [asdict(cost) for cost in costs],
    }


def _written(model: str, folder: Path) -> str:
    if model not in SIZES:
        return model
    return str(write(folder / f"{model}.gguf", SIZES[model], words=_words()))


def _words() -> list[str]:
    text = asset("prompts", "everyday.txt").read_text(encoding="ascii")
    return [word.strip(",?.!") for word in text.split()]


def _typed(
    path: str, histories: Sequence[int], limit: int, options: SpeculationOptions, halted: dict[str, Any]
) -> Iterator[Cost]:
    """A turn after each history; in the end, ``halted`` gets what halts take."""
    opened: list[LoadedModel] = []
    stales: list[Stale] = []

    def lend(_model: str, engine: str, threads: int | None, context: int, stale: Stale) -> LoadedModel:
        stales.append(stale)
        opened.append(load(path, engine, threads, context, stale))
        return opened[-1]

    stage = SpeculationStage(options, lend)
    list(stage.open(StageContext(RealClock(), lambda: False, logging.getLogger("predtui.lab.bench"))))
    try:
        for turn, length in enumerate(histories, 1):
            history = _conversation(opened[0], length)
            yield from _turn(stage, opened[0], turn, history, limit)
        if isinstance(stales[0], Halt):
            halted |= halts(opened[0].model, stales[0])
    finally:
        stage.close()


def _conversation(loaded: LoadedModel, length: int) -> tuple[Message, ...]:
    """Exchanges of everyday words that have at least ``length`` tokens in all."""
    words, messages = _words(), list[Message]()
    room = loaded.model.context_size - SpeculationOptions().reply_tokens
    if length > room - room // 4:
        raise PredtuiError(f"A history of {length} tokens leaves no room.", f"Give at most {room - room // 4}.")
    while length > _tokens(loaded, messages):
        begin = 40 * len(messages)
        said = " ".join(words[(begin + number) % len(words)] for number in range(40))
        messages.append(Message("assistant" if len(messages) % 2 else "user", said))
    return (*messages, Message("assistant", "yes")) if len(messages) % 2 else tuple(messages)


def _tokens(loaded: LoadedModel, history: Sequence[Message]) -> int:
    """Those of a conversation that goes on."""
    return len(loaded.prompt_tokens([*history, Message("user", "")]))


def _turn(
    stage: SpeculationStage, loaded: LoadedModel, turn: int, history: tuple[Message, ...], limit: int
) -> Iterator[Cost]:
    count = _tokens(loaded, history)
    yield _measured(stage, loaded, TurnStarted(turn=turn, history=history), count)
    words, said = _words()[:limit], list[str]()
    for number, word in enumerate(words, 1):
        said = [*said[:-1], word] if number % REVISED == 0 else [*said, word]
        yield _measured(stage, loaded, Transcript(turn=turn, stable=" ".join(said), unfinished=False), count)


def _measured(stage: SpeculationStage, loaded: LoadedModel, event: Event, history: int) -> Cost:
    counters = loaded.model.counters
    forwards, tokens, began = counters.forwards, counters.tokens, time.perf_counter()

    def spent() -> tuple[int, int, float]:
        ms = round(1000 * (time.perf_counter() - began), 1)
        return counters.forwards - forwards, counters.tokens - tokens, ms

    first: tuple[int, int, float] | None = None
    for out in stage.handle(event):
        if first is None and isinstance(out, Candidate):
            first = spent()
    said = event.prompt if isinstance(event, Transcript) else ""
    return Cost(history, said, *(first or spent()), *spent())


def _row(costs: Sequence[Cost]) -> dict[str, Any]:
    reading, words = [one for one in costs if not one.said], [one for one in costs if one.said]
    means = {
        name: round(fmean(getattr(one, name) for one in words), 1) if words else 0.0
        for name in ("first_forwards", "first_tokens", "first_ms", "all_forwards", "all_tokens", "all_ms")
    }
    return {
        "history": costs[0].history,
        "n": len(words),
        "read_tokens": reading[0].all_tokens,
        "read_ms": reading[0].all_ms,
        **means,
        "worst_first_ms": max((one.first_ms for one in words), default=0.0),
    }


def as_line(cost: Cost) -> str:
    """A word in a line."""
    what = cost.said[-40:] or "(the conversation is read)"
    return (
        f"{cost.history:>5} tokens before  {cost.first_forwards:>3} forwards, {cost.first_tokens:>5} tokens, "
        f"{cost.first_ms:>8.1f} ms to a candidate; in all {cost.all_forwards:>3}, {cost.all_tokens:>5}, "
        f"{cost.all_ms:>8.1f}  {what}"
    )


def halted_line(halted: dict[str, Any]) -> str:
    """What ``halts`` found, in a line."""
    return (
        f"A prompt that is read at {halted['tokens_per_second']:.0f} tokens/s ends {halted['late_ms']:.0f} ms after it "
        f"is halted (at most {halted['worst_late_ms']:.0f}), and beside the piece under way "
        f"{halted['lost_tokens']:.0f} tokens of it are lost (at most {halted['worst_lost_tokens']:.0f})."
    )


def main(model: str, histories: Sequence[int], limit: int, options: SpeculationOptions, json_path: Path | None) -> int:
    """Measure, print, write; the exit status."""
    watch = Watch(len(histories) * (limit + 1), "words", as_line)
    result = run(model, histories, limit, options, watch)
    table = Table(title=f"What a word costs: {model}", caption=result["machine"])
    headings = {
        "history": "tokens before",
        "read_tokens": "read",
        "read_ms": "ms",
        "first_forwards": "forwards to a candidate",
        "first_tokens": "tokens",
        "first_ms": "ms",
        "worst_first_ms": "worst ms",
        "all_forwards": "forwards in all",
        "all_tokens": "tokens",
        "all_ms": "ms",
        "n": "words",
    }
    for heading in headings.values():
        table.add_column(heading, justify="right")
    for row in result["rows"]:
        table.add_row(*(str(row[name]) for name in headings))
    console().print(table)
    if halted := result["halted"]:
        console().print(halted_line(halted))
    return watch.leave(result, json_path)


def cli(
    model: Annotated[
        str, typer.Option(help="A size of random weights (llama, lfm2, falcon-h1, mamba), a name, or a GGUF file.")
    ] = "llama",
    history: Annotated[str, typer.Option(help="Tokens of the conversation before, separated by commas.")] = "500,2000",
    limit: Limit = 12,
    threads: Threads = 0,
    candidate: Annotated[int, typer.Option(help="Tokens that a candidate grows to.", min=1)] = 16,
    json: Json = None,
) -> None:
    """``predtui bench words``."""
    try:
        histories = [int(length) for length in history.split(",")]
    except ValueError:
        raise PredtuiError(f"--history {history!r} are no numbers.", "Try: --history 500,2000") from None
    options = SpeculationOptions(model=model, threads=threads, candidate_tokens=candidate, continuations=0)
    raise typer.Exit(main(model, histories, limit, options, json))
