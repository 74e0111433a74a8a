"""A draft here, its target behind a network: what streaming, speculative decoding and DuoDecoding take, by the way
there and back and by what the server takes for a token.

The server is the target in this process, which sleeps so long. Must not know how decoders decide.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from predtui.clock import Clock, RealClock
from predtui.decoding.assembly import DecodingOptions, make_decoder
from predtui.decoding.base import Decoder
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json, MaxTokens, Seed
from predtui.lab.training.corpus import compose
from predtui.llm.abilities import Abilities
from predtui.llm.base import Counters, LanguageModel, LoadedModel
from predtui.llm.load import load
from predtui.llm.rows import Rows
from predtui.models.shipped import POCKET, POCKET_DRAFT
from predtui.text import first_sentence

METHODS = {"streamed": "ar", "speculative": "speculative", "duo": "duo"}
WARM = 2
"""Prompts before those that count: costs are measured meanwhile."""
Figures = dict[str, Any]


class FarModel:
    """A ``GeneratingModel``: another model, a request to which takes ``way`` seconds, and a token or a forward at least
    ``token``."""

    def __init__(self, model: LanguageModel, clock: Clock, way: float, token: float) -> None:
        self.counters = Counters()
        self.vocab_size, self.context_size = model.vocab_size, model.context_size
        self.abilities = Abilities(verifies="exact", rollback="any", top=model.abilities.top, generates=True)
        self._model, self._clock, self._way, self._token = model, clock, way, token

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        self.counters.forwards += 1
        self._clock.sleep(self._way)
        return self._served(tokens, last)

    def generate(self, tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        self.counters.forwards += 1
        self._clock.sleep(self._way)
        context = list(tokens)
        for _ in range(limit):
            context.append(self._served(context, 1)[-1].argmax())
            self.counters.generated += 1
            yield context[-1]

    def forget(self, keep: int = 0) -> None:
        self._model.forget(keep)

    def close(self) -> None:
        """The model belongs to whoever loaded it."""

    def _served(self, tokens: Sequence[int], last: int) -> Rows:
        due = self._clock.now() + self._token
        rows = self._model.forward(tokens, last)
        self._clock.sleep(due - self._clock.now())
        return rows


@dataclass(frozen=True, slots=True)
class HybridBench:
    """What to measure: each of ``METHODS`` over ``prompts``, by milliseconds of the way and of a token."""

    target: LoadedModel
    draft: LoadedModel
    prompts: Sequence[list[int]]
    ways: Sequence[float]
    tokens: Sequence[float]
    max_tokens: int
    clock: Clock


def result(bench: HybridBench, gather: Gather[Figures] = list) -> dict[str, Any]:
    """The JSON, over the rows that are gathered."""
    return {"command": command(), "machine": machine(), "rows": gather(rows(bench))}


def rows(bench: HybridBench) -> Iterator[Figures]:
    """One for each token's time, way and method; streaming first, with which the replies are compared."""
    for token in bench.tokens:
        for way in bench.ways:
            plain = list[list[int]]()
            for method in METHODS:
                row, replies = _measured(bench, method, way, token)
                plain = plain or replies
                same = sum(one == other for one, other in zip(replies, plain, strict=True)) / len(plain)
                yield {"server_ms": token, "way_ms": way, "method": method, **row, "identical_share": same}


def _measured(bench: HybridBench, method: str, way: float, token: float) -> tuple[Figures, list[list[int]]]:
    model = FarModel(bench.target.model, bench.clock, way / 1000, token / 1000)
    target, clock = replace(bench.target, model=model), bench.clock
    parts = Parts(target, Greedy(), bench.draft, instrument=Instrument(clock))
    decoder = make_decoder(METHODS[method], parts, DecodingOptions().drafter)
    replies, firsts, seconds = list[list[int]](), list[float](), 0.0
    asked = 0
    try:
        for number, prompt in enumerate(bench.prompts):
            if number == WARM:
                seconds, asked = 0.0, model.counters.forwards
                replies, firsts = [], []
            began = clock.now()
            reply, first = _reply(bench, decoder, prompt)
            seconds += clock.now() - began
            replies.append(reply)
            firsts.append(first)
    finally:
        decoder.close()
    told = {
        "ms_per_token": round(1000 * seconds / sum(map(len, replies)), 2),
        "first_sentence_ms": round(1000 * sum(firsts) / len(firsts), 1),
        "requests": round((model.counters.forwards - asked) / len(replies), 2),
        "accepted_share": round(decoder.statistics.acceptance_rate, 3),
        "n": len(replies),
    }
    return told, replies


def _reply(bench: HybridBench, decoder: Decoder, prompt: list[int]) -> tuple[list[int], float]:
    """Its tokens, and the seconds until its first sentence stood."""
    tokenizer, began = bench.target.tokenizer, bench.clock.now()
    reply, first = list[int](), 0.0
    for token in decoder.generate(prompt, bench.max_tokens, tokenizer.is_end):
        reply.append(token)
        if not first and first_sentence(tokenizer.decode(reply), tokenizer.is_end(token)) is not None:
            first = bench.clock.now() - began
    return reply, first or bench.clock.now() - began


def as_line(row: Figures) -> str:
    """A row, as it comes."""
    return f"{row['server_ms']:g} ms a token, {row['way_ms']:g} ms the way, {row['method']}: {row['ms_per_token']} ms"


def main(bench: HybridBench, json_path: Path | None = None) -> int:
    """Measure, print, write; the exit status."""
    watch = Watch[Figures](len(bench.ways) * len(bench.tokens) * len(METHODS), "rows", as_line)
    found = result(bench, watch)
    names = ("server_ms", "way_ms", "method", "ms_per_token", "first_sentence_ms", "requests", "identical_share")
    drawn = Table(*(Column(name.replace("_", " ")) for name in names), title="Hybrid", caption=found["machine"])
    for row in found["rows"]:
        drawn.add_row(*(f"{row[name]:g}" if isinstance(row[name], float) else str(row[name]) for name in names))
    console().print(drawn)
    return watch.leave(found, json_path)


def milliseconds(given: str, option: str) -> list[float]:
    """Raises PredtuiError for what is no list of them."""
    try:
        found = [float(one) for one in given.split(",")]
    except ValueError:
        found = [-1.0]
    if not all(0 <= one < 1e6 for one in found):
        raise PredtuiError(f"{option} {given!r} are no milliseconds.", f"Try: {option} 1,10,50")
    return found


def cli(
    target: Annotated[str, typer.Option(help="The model behind the network.")] = POCKET,
    draft: Annotated[str, typer.Option(help="The model that drafts here.")] = POCKET_DRAFT,
    ways: Annotated[str, typer.Option(help="Milliseconds there and back, separated by commas.")] = "1,10,50,150",
    server: Annotated[str, typer.Option(help="Milliseconds of the server's for a token.")] = "15,60",
    limit: Annotated[int, typer.Option(help="Prompts.", min=1)] = 6,
    prompts_seed: Seed = 1,
    max_tokens: MaxTokens = 48,
    json: Json = None,
) -> None:
    """``predtui bench hybrid``."""
    times = milliseconds(ways, "--ways"), milliseconds(server, "--server")
    with ExitStack() as opened:
        models = [load(name) for name in (target, draft)]
        for model in models:
            opened.callback(model.model.close)
        said = [one.messages[:-1] for one in compose.heldout("slots", WARM + limit, prompts_seed)]
        prompts = [models[0].prompt_tokens(messages) for messages in said]
        bench = HybridBench(models[0], models[1], prompts, *times, max_tokens, RealClock())
        status = main(bench, json)
    raise typer.Exit(status)
