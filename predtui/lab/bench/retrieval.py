"""What looking notes up while somebody speaks brings: how often passages still hold when the prompt changes, and when
the first sentence of the reply stands, against looking them up once the input has ended.

Drives the "llm" stage as a host does, word by word, and waits for each word's candidate. Must not know of sound.
"""

from __future__ import annotations

import logging
import random
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
from predtui.files import folder as existing_folder
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json, Limit, MaxTokens, Seed, Threads
from predtui.models.shipped import POCKET
from predtui.predgen.notes.folder import NotesFolder
from predtui.predgen.notes.notes import Notes
from predtui.predgen.notes.passages import passages
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage, create
from predtui.state.events import Event, ReplyFinished, Retrieved, Transcript, TurnStarted
from predtui.state.stage import StageContext

_WORDS = 6
"""Of a passage, in a question made of it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: partial and final prompts that were looked up, those whose passages were the ones of the prompt
    before, whether the final one's were; milliseconds and forwards to the first sentence, looked up ``while`` it was
    asked and ``after`` its end; whether both replies are the same."""

    question: str
    prompts: int
    held: int
    held_at_end: bool
    while_ms: float
    while_forwards: int
    after_ms: float
    after_forwards: int
    identical: bool


def questions(named: str, limit: int, seed: int) -> list[str]:
    """Made of words of the notes in the folder called ``named``. Raises PredtuiError where there are none."""
    notes = NotesFolder(named)
    texts = sorted(notes.look().read.items())
    if notes.problem:
        raise PredtuiError(notes.problem, "Name a folder of notes: --context FOLDER")
    words = [one.text.split() for note, text in texts for one in passages(note, text)]
    rng = random.Random(seed)
    chosen = [rng.choice(words) for _ in range(limit)]
    begins = [rng.randint(0, max(0, len(one) - _WORDS)) for one in chosen]
    return [f"tell me about {' '.join(one[at : at + _WORDS])}" for one, at in zip(chosen, begins, strict=True)]


def run(options: SpeculationOptions, asked: Sequence[str], gather: Gather[Asked] = list) -> dict[str, Any]:
    """A row of means over the questions that are ``asked``, and each of them. Raises PredtuiError as the stage does."""
    played = gather(_played(options, asked))
    return {
        "command": command(),
        "machine": machine(options.threads),
        "model": options.model,
        "rows": [{**_row(played), **_lookups(options.notes, asked)}] if played else [],
        "questions": [asdict(one) for one in played],
    }


def _played(options: SpeculationOptions, asked: Sequence[str]) -> Iterator[Asked]:
    stage = create(options)
    list(stage.open(StageContext(RealClock(), lambda: False, logging.getLogger("predtui.lab.bench"))))
    try:
        for question in asked:
            yield _asked(stage, question)
    finally:
        stage.close()


def _asked(stage: SpeculationStage, question: str) -> Asked:
    found, reply = _turn(stage, _partial(question))
    _, after = _turn(stage, [question])
    return Asked(
        question=question,
        prompts=len(found),
        held=found[-1].held,
        held_at_end=len(found) > 1 and found[-1].held > found[-2].held,
        while_ms=reply.ttfs_ms,
        while_forwards=reply.nfetfs,
        after_ms=after.ttfs_ms,
        after_forwards=after.nfetfs,
        identical=reply.text == after.text,
    )


def _partial(question: str) -> list[str]:
    """Word by word; the last one comes with the end of the input."""
    words = question.split()
    return [" ".join(words[:count]) for count in range(1, len(words) + 1)]


def _turn(stage: SpeculationStage, prompts: Sequence[str]) -> tuple[list[Retrieved], ReplyFinished]:
    """What was retrieved in a turn of these prompts, the last of them final, and its reply."""
    last = len(prompts) - 1
    said = [Transcript(stable=prompt, unfinished=False, final=at == last) for at, prompt in enumerate(prompts)]
    told: list[Event] = [event for one in (TurnStarted(), *said) for event in stage.handle(one)]
    reply = next(event for event in told if isinstance(event, ReplyFinished))
    return [event for event in told if isinstance(event, Retrieved)], reply


def _row(played: Sequence[Asked]) -> dict[str, Any]:
    changes = sum(one.prompts - 1 for one in played)
    return {
        "n": len(played),
        "retrievals": sum(one.prompts for one in played),
        "held_share": sum(one.held for one in played) / changes,
        "held_at_end_share": fmean(one.held_at_end for one in played),
        "while_ms": fmean(one.while_ms for one in played),
        "after_ms": fmean(one.after_ms for one in played),
        "saved_ms": fmean(one.after_ms - one.while_ms for one in played),
        "while_forwards": fmean(one.while_forwards for one in played),
        "after_forwards": fmean(one.after_forwards for one in played),
        "identical_share": fmean(one.identical for one in played),
    }


def _lookups(named: str, asked: Sequence[str]) -> dict[str, Any]:
    """Of the whole index alone, and of the cache where it guesses for every prompt."""
    notes = Notes(named, time.perf_counter, slow_s=0.0)
    list(notes.look())
    for question in asked:
        for prompt in _partial(question):
            notes.passages(prompt, guess=True)
    figures = notes.retriever.figures
    count = len(notes)
    notes.close()
    return {
        "passages": count,
        "whole_ms": 1000 * figures.whole_s / max(1, figures.whole),
        "cached_ms": 1000 * figures.cached_s / max(1, figures.cached),
        "right_share": figures.right / max(1, figures.verified),
    }


def as_line(one: Asked) -> str:
    """A question in a line."""
    times = f"{one.while_ms:>7.1f} ms / {one.after_ms:>7.1f} ms"
    return f"{one.held:>2} of {one.prompts - 1} held  {times}  {one.question[:60]}"


_FIGURES = {
    "n": ("questions", "{}"),
    "passages": ("passages of the notes", "{}"),
    "retrievals": ("retrievals", "{}"),
    "held_share": ("still valid when the prompt changed", "{:.0%}"),
    "held_at_end_share": ("still valid when the last word came", "{:.0%}"),
    "while_ms": ("first sentence, looked up while speaking, ms", "{:.1f}"),
    "after_ms": ("  looked up after the end, ms", "{:.1f}"),
    "saved_ms": ("  saved, ms", "{:.1f}"),
    "while_forwards": ("forwards to it, while speaking", "{:.1f}"),
    "after_forwards": ("  after the end", "{:.1f}"),
    "identical_share": ("replies identical", "{:.0%}"),
    "whole_ms": ("a look into the whole index, ms", "{:.3f}"),
    "cached_ms": ("  into the cache, ms", "{:.3f}"),
    "right_share": ("guesses of the cache that were right", "{:.0%}"),
}


def main(options: SpeculationOptions, asked: Sequence[str], json_path: Path | None) -> int:
    """Measure, print, write; the exit status."""
    watch = Watch(len(asked), "questions", as_line)
    result = run(options, asked, watch)
    table = Table(title=f"Notes looked up while speaking: {options.model}", caption=result["machine"])
    table.add_column("")
    table.add_column("", justify="right")
    for row in result["rows"]:
        for name, (heading, form) in _FIGURES.items():
            table.add_row(heading, form.format(row[name]))
    console().print(table)
    same = all(one["identical"] for one in result["questions"])
    return watch.leave(result, json_path) or int(not same)


def cli(
    context: Annotated[str, typer.Option(help="The folder of notes, which has to be named.")] = "",
    model: Annotated[str, typer.Option(help="The language model: a name, or a GGUF file.")] = POCKET,
    limit: Limit = 20,
    seed: Seed = 0,
    max_tokens: MaxTokens = 64,
    threads: Threads = 0,
    json: Json = None,
) -> None:
    """``predtui bench retrieval``."""
    if not context:
        raise PredtuiError("There are no notes to look up.", "Name their folder: --context FOLDER")
    named = str(existing_folder(context))
    options = SpeculationOptions(model=model, threads=threads, notes=named, reply_tokens=max_tokens, continuations=0)
    raise typer.Exit(main(options, questions(named, limit, seed), json))
