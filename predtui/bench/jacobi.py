"""How many tokens a forward of Jacobi decoding brings, by model and block, on held-out pocket prompts.

A tuned model and the one it was tuned from go into one table. Must not know how the tuning was done.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Column, Table

from predtui.bench.report import command, console, machine, write
from predtui.decoding.autoregressive import Autoregressive
from predtui.decoding.base import Decoder
from predtui.decoding.jacobi import Jacobi
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.training.corpus import compose, oracle
from predtui.training.corpus.types import Example

REPLY_TOKENS = 160
_COLUMNS = ("model", "decoder", "tokens_per_forward", "identical_share", "right_share", "ms_per_token", "n")

_HEADINGS = ("model", "decoder", "tokens/forward", "identical", "right", "ms/token", "of")


@dataclass(frozen=True, slots=True)
class Measured:
    """What one decoder said to all prompts, and the seconds it took."""

    replies: list[list[int]]
    seconds: float


def run(
    models: Sequence[str], engine: str, blocks: Sequence[int], limit: int, seed: int, threads: int
) -> dict[str, Any]:
    """A row a model and decoder; replies are compared with that model's own autoregressive ones, token by token."""
    examples = compose.heldout("slots", limit, seed)
    rows: list[dict[str, Any]] = []
    for model in models:
        loaded = load(model, engine, threads or None)
        try:
            rows += _rows(model, loaded, blocks, examples)
        finally:
            loaded.model.close()
    return {"command": command(), "machine": machine(threads), "models": list(models), "rows": rows}


def _rows(model: str, loaded: LoadedModel, blocks: Sequence[int], examples: Sequence[Example]) -> list[dict[str, Any]]:
    decoders: dict[str, Decoder] = {"ar": Autoregressive(loaded.model, Greedy())}
    decoders |= {f"jacobi {block}": Jacobi(loaded.model, Greedy(), block, loaded.pad) for block in blocks}
    measured = {name: _measure(decoder, loaded, examples) for name, decoder in decoders.items()}
    plain = measured["ar"].replies
    rows = []
    for name, decoder in decoders.items():
        replies, seconds = measured[name].replies, measured[name].seconds
        said = [loaded.tokenizer.decode(reply) for reply in replies]
        right = sum(oracle.right(example, text) for example, text in zip(examples, said, strict=True))
        values = (
            model,
            name,
            round(decoder.statistics.tokens_per_forward, 3),
            sum(a == b for a, b in zip(replies, plain, strict=True)) / len(plain),
            right / len(plain),
            round(1000 * seconds / decoder.statistics.tokens, 3),
            len(plain),
        )
        rows.append(dict(zip(_COLUMNS, values, strict=True)))
    return rows


def _measure(decoder: Decoder, loaded: LoadedModel, examples: Sequence[Example]) -> Measured:
    loaded.model.forget()
    begun = time.perf_counter()
    replies = [
        list(decoder.generate(loaded.prompt_tokens(example.messages[:-1]), REPLY_TOKENS, loaded.tokenizer.is_end))
        for example in examples
    ]
    return Measured(replies, time.perf_counter() - begun)


def main(
    models: Sequence[str], engine: str, blocks: str, limit: int, seed: int, threads: int, json_path: Path | None
) -> None:
    """Measure, print, write. Raises PredtuiError for blocks that are no numbers."""
    try:
        sizes = [int(block) for block in blocks.split(",")]
    except ValueError:
        raise PredtuiError(f"--blocks {blocks!r} are no numbers.", "Try: --blocks 8,16,32") from None
    if min(sizes) < 1:
        raise PredtuiError(f"--blocks {blocks!r}: a block has at least one token.")
    result = run(models, engine, sizes, limit, seed, threads)
    columns = [Column(name, overflow="fold", no_wrap=name != "model") for name in _HEADINGS]
    table = Table(*columns, title="Jacobi decoding", caption=result["machine"])
    for row in result["rows"]:
        table.add_row(
            *(str(round(row[name], 3)) if isinstance(row[name], float) else str(row[name]) for name in _COLUMNS)
        )
    console().print(table)
    write(result, json_path)
