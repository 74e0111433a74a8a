"""Tokens per forward of Jacobi decoding, by model and block size, on held-out pocket prompts.

A tuned model and the one it was tuned from go into one table. Must not know how the tuning was done.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from predtui.decoding.autoregressive import Autoregressive
from predtui.decoding.base import Decoder
from predtui.decoding.jacobi import Jacobi
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json, Limit, MaxTokens, Seed, Threads
from predtui.lab.training.corpus import compose, oracle
from predtui.lab.training.corpus.types import Example
from predtui.llm.base import LoadedModel
from predtui.llm.load import load

REPLY_TOKENS = 160
_COLUMNS = ("model", "decoder", "tokens_per_forward", "identical_share", "right_share", "ms_per_token", "n")

_HEADINGS = ("model", "decoder", "tokens/forward", "identical", "right", "ms/token", "of")


@dataclass(slots=True)
class Contender:
    """A decoder of one model, what it said to the prompts so far, and the seconds it took, prompts included."""

    model: str
    name: str
    loaded: LoadedModel
    decoder: Decoder
    replies: list[list[int]] = field(default_factory=list)
    seconds: float = 0.0

    def answer(self, example: Example, limit: int) -> None:
        """One more prompt, of which nothing is known yet, in at most ``limit`` tokens."""
        loaded, begun = self.loaded, time.perf_counter()
        loaded.model.forget()
        prompt = loaded.prompt_tokens(example.messages[:-1])
        self.replies.append(list(self.decoder.generate(prompt, limit, loaded.tokenizer.is_end)))
        self.seconds += time.perf_counter() - begun


def run(
    models: Sequence[str],
    engine: str,
    blocks: Sequence[int],
    limit: int,
    seed: int,
    threads: int,
    max_tokens: int = REPLY_TOKENS,
    gather: Gather[Example] = list,
) -> dict[str, Any]:
    """A row a model and decoder, which take turns prompt by prompt; replies are compared with that model's own
    autoregressive ones, token by token. Of the prompts that are gathered, each is answered by all."""
    examples = compose.heldout("slots", limit, seed)
    with ExitStack() as stack:
        contenders: list[list[Contender]] = []
        for model in models:
            loaded = load(model, engine, threads or None)
            stack.callback(loaded.model.close)
            contenders.append(_contenders(model, loaded, blocks))
        done = gather(_answered(list(chain(*contenders)), examples, max_tokens))
        rows = [_row(one, same[0], done) for same in contenders for one in same] if done else []
    return {"command": command(), "machine": machine(threads), "models": list(models), "rows": rows}


def _answered(contenders: Sequence[Contender], examples: Sequence[Example], limit: int) -> Iterator[Example]:
    for example in examples:
        for contender in contenders:
            contender.answer(example, limit)
        yield example


def _contenders(model: str, loaded: LoadedModel, blocks: Sequence[int]) -> list[Contender]:
    """Autoregressive decoding first."""
    decoders: dict[str, Decoder] = {"ar": Autoregressive(loaded.model, Greedy())}
    decoders |= {f"jacobi {block}": Jacobi(loaded.model, Greedy(), block, loaded.pad) for block in blocks}
    return [Contender(model, name, loaded, decoder) for name, decoder in decoders.items()]


def _row(one: Contender, plain: Contender, examples: Sequence[Example]) -> dict[str, Any]:
    said = [one.loaded.tokenizer.decode(reply) for reply in one.replies]
    right = sum(oracle.right(example, text) for example, text in zip(examples, said, strict=False))
    values = (
        one.model,
        one.name,
        round(one.decoder.statistics.tokens_per_forward, 3),
        sum(a == b for _, a, b in zip(examples, one.replies, plain.replies, strict=False)) / len(examples),
        right / len(examples),
        round(1000 * one.seconds / one.decoder.statistics.tokens, 3),
        len(examples),
    )
    return dict(zip(_COLUMNS, values, strict=True))


def main(
    models: Sequence[str],
    engine: str,
    blocks: str,
    limit: int,
    seed: int,
    threads: int,
    max_tokens: int,
    json_path: Path | None,
) -> int:
    """Measure, print, write; the exit status. Raises PredtuiError for blocks that are no numbers."""
    try:
        sizes = [int(block) for block in blocks.split(",")]
    except ValueError:
        raise PredtuiError(f"--blocks {blocks!r} are no numbers.", "Try: --blocks 8,16,32") from None
    if min(sizes) < 1:
        raise PredtuiError(f"--blocks {blocks!r}: a block has at least one token.")
    watch = Watch[Example](limit, "prompts", lambda example: example.messages[-2].content)
    result = run(models, engine, sizes, limit, seed, threads, max_tokens, watch)
    columns = [Column(name, overflow="fold", no_wrap=name != "model") for name in _HEADINGS]
    table = Table(*columns, title="Jacobi decoding", caption=result["machine"])
    for row in result["rows"]:
        table.add_row(
            *(str(round(row[name], 3)) if isinstance(row[name], float) else str(row[name]) for name in _COLUMNS)
        )
    console().print(table)
    return watch.leave(result, json_path)


def cli(
    model: Annotated[
        list[str] | None, typer.Option(help="pocket, smollm2, or a path; may be given several times.")
    ] = None,
    engine: Annotated[str, typer.Option(help="What runs the models.")] = "llamacpp",
    blocks: Annotated[str, typer.Option(help="Tokens of a block, separated by commas.")] = "8,16,32",
    limit: Limit = 100,
    prompts_seed: Seed = 1,
    threads: Threads = 0,
    max_tokens: MaxTokens = 160,
    json: Json = None,
) -> None:
    """``predtui bench jacobi``."""
    raise typer.Exit(main(model or ["pocket"], engine, blocks, limit, prompts_seed, threads, max_tokens, json))
