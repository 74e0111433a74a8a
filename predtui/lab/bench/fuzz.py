"""Random histories of revisions against plain decoding: a scripted model, thousands of turns, every lossless switch.

Each history adds, drops, flips and repeats words, says nothing or far too much, and is pre-empted at random. Must not
know how a candidate is held or verified.
"""

from __future__ import annotations

import functools
import gc
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import psutil
import typer

from predtui.decoding.autoregressive import Autoregressive, generate
from predtui.decoding.base import Decoder, Sampler
from predtui.decoding.costs.curve import Curve
from predtui.decoding.jacobi import Jacobi
from predtui.decoding.sampler import Greedy, Seeded
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.predgen.algorithm import Progress, Prompt, Speculator
from predtui.predgen.verifiers import make_verifier
from predtui.predgen.window import Window

CONTEXT = 160
REPLY = 40
_WORDS = ("what", "is", "the", "sun", "of", "a", "no", "3", "Why?", "then,", "über", "how", "many", "legs", "france")


@dataclass(frozen=True, slots=True)
class Failure:
    """A history whose reply was not plain decoding's, or that raised ``error``."""

    number: int
    prompt: str
    error: str = ""


def run(histories: int, seed: int, gather: Gather[Failure | None] = list) -> list[Failure]:
    """The failures among ``histories`` random ones, of those that are gathered."""
    return [failure for failure in gather(_played(histories, seed)) if failure]


def _played(histories: int, seed: int) -> Iterator[Failure | None]:
    for number in range(histories):
        rng = random.Random(f"fuzz {seed} {number}")
        prompt, failure = "", None
        try:
            *partials, prompt = _history(rng)
            if not _same(partials, prompt, rng):
                failure = Failure(number, prompt)
        except Exception as error:
            failure = Failure(number, prompt, repr(error))
        yield failure


def _history(rng: random.Random) -> list[str]:
    """One to eight prompts, the last of them final."""
    said: list[str] = []
    told: list[str] = []
    for _ in range(rng.randint(1, 8)):
        kind = rng.random()
        if kind < 0.5:
            said = [*said, rng.choice(_WORDS)]
        elif kind < 0.65:
            said = said[: rng.randint(0, len(said))]
        elif kind < 0.8 and said:
            said = [*said[:-1], rng.choice(_WORDS)]
        elif kind < 0.9:
            said = told[rng.randrange(len(told))].split() if told else []
        else:
            said = ["long"] * rng.choice((0, CONTEXT))
        told.append(" ".join(said))
    return told


def _same(partials: list[str], final: str, rng: random.Random) -> bool:
    """Whether the reply to ``final``, after ``partials`` and with a turn before it, is plain decoding's."""
    model = str(rng.randint(0, 5))
    sampler: Sampler = Greedy() if rng.random() < 0.5 else Seeded(temperature=rng.uniform(0.3, 2.0), seed=3)
    loaded, plain = (load(model, engine="scripted", context=CONTEXT) for _ in range(2))
    decoder: Decoder = Autoregressive(loaded.model, sampler)
    if rng.random() < 0.3:
        decoder = Jacobi(loaded.model, sampler, rng.randint(2, 8))
    verifier = make_verifier("greedy", loaded, sampler, rng.choice([None, _curve(rng.random())]))
    speculator = Speculator(loaded, decoder, verifier, REPLY, memory=rng.randint(1, 4), continuations=rng.randint(0, 3))
    window = Window(loaded, "sys", REPLY)
    prompts: list[Prompt] = []
    for partial in partials:
        guesses = [f"{partial} {rng.choice(_WORDS)}" for _ in range(rng.randint(0, 2))]
        for number, said in enumerate([partial, *guesses]):
            questions = iter(range(rng.randint(0, 40)))
            stale = functools.partial(_over, questions)
            prompts.append(Prompt(window.tokens([], said), stale, ahead=number > 0, enough=_long))
    prompt = window.tokens([], final)
    *_, last = speculator.run([*prompts, Prompt(prompt)])
    return list(last.tokens) == list(_plain(plain, prompt, sampler))


def _long(progress: Progress) -> bool:
    return len(progress.tokens) > 25


def _over(questions: Iterator[int]) -> bool:
    return next(questions, None) is None


def _curve(more: float) -> Curve:
    """A second for a token, ``more`` for each beyond it."""
    costs = Curve()
    for size in (1, 2, 100):
        costs.add(size, 1 + more * (size - 1))
    return costs


def _plain(loaded: LoadedModel, prompt: list[int], sampler: Sampler) -> Iterator[int]:
    limit = min(REPLY, loaded.model.context_size - len(prompt))
    return generate(loaded.model, prompt, sampler, limit, loaded.tokenizer.is_end)


def as_line(failure: Failure | None) -> str:
    """A failure in a line."""
    return f"history {failure.number}: {failure.prompt!r} {failure.error}" if failure else ""


def main(histories: int = 10_000, seed: int = 0, json_path: Path | None = None) -> int:
    """Run, print and write what failed. Exit status 1 where anything did."""
    process = psutil.Process()
    memory: list[float] = []
    watch = Watch(histories, "histories", as_line)

    def sampled(played: Iterable[Failure | None]) -> Iterator[Failure | None]:
        for number, failure in enumerate(played, 1):
            if number % max(1, histories // 10) == 0:
                gc.collect()  # what only waits for the collector would look like a leak
                memory.append(round(process.memory_info().rss / 2**20, 1))
            yield failure

    failures = run(histories, seed, lambda played: watch(sampled(played)))
    screen = console()
    screen.print(f"{watch.done - len(failures)} of {watch.done} histories: the reply is plain decoding's")
    screen.print(f"memory after each tenth of them, MB: {', '.join(map(str, memory))}")
    result: dict[str, Any] = {
        "command": command(),
        "machine": machine(1),
        "models": ["scripted"],
        "rows": [{"histories": watch.done, "failed": len(failures), "memory_mb": memory}],
        "failures": [(failure.number, failure.prompt, failure.error) for failure in failures],
    }
    return watch.leave(result, json_path) or bool(failures)


def cli(
    histories: Annotated[int, typer.Option(help="Random histories of revisions.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the histories.")] = 0,
    json: Json = None,
) -> None:
    """``predtui bench fuzz``."""
    raise typer.Exit(main(histories, seed, json))
