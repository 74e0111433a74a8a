"""Is a sampled reply out of the target's distribution? Pearson's chi-square of every draw, by any decoder and drafter.

Target and draft are Markov chains, so that what follows a token is a draw of one known row. Must not know how a draw
comes about.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from predtui.clock import VirtualClock
from predtui.decoding.assembly import make_decoder
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Seeded
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Watch
from predtui.lab.commands.options import Json
from predtui.llm.abilities import Abilities
from predtui.llm.base import Counters, LoadedModel
from predtui.llm.rows import ArrayRows, Logits, Rows
from predtui.llm.scripted import CharacterTokenizer, MarkedTemplate
from predtui.registry import DECODERS, DRAFTERS

SIZE, REPLY = 6, 500
"""Tokens of the vocabulary, and of a reply."""
LAYERS = 4
"""That the target says it has."""
TEMPERATURE = 1.2
UNLIKELY = 0.001
"""Below this p-value the replies are taken for another distribution's."""


class Chain:
    """What follows a token depends on that token alone."""

    def __init__(self, table: Logits) -> None:
        """``table`` [vocab, vocab]: logits by the token before."""
        self.counters, self.table = Counters(), table
        self.vocab_size, self.context_size = len(table), 2 * REPLY + 1
        can = replace(Abilities.of_logits(len(table)), trees=True, windows=True)
        self.abilities = replace(can, hidden=len(table), layers=LAYERS, soft=True)

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        self.counters.forwards += 1
        self.counters.tokens += last
        said = self.table[list(tokens[-last:])]
        return ArrayRows(said, said)

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        self.counters.forwards += 1
        self.counters.tokens += 1 + len(tree)
        said = self.table[[tokens[-1], *(token % self.vocab_size for token in tree)]]
        return ArrayRows(said, said)

    def tell_hidden(self) -> None:
        """Its rows have their states: what they say."""

    def window_bytes(self, cells: int = 0) -> int:
        """Those of its table."""
        return self.table.nbytes

    def window(self, cells: int = 0) -> Chain:
        """What has forgotten something says something else."""
        return Chain((np.flip(self.table, 0) / 2 + self.table / 2).astype(np.float32))

    def part_bytes(self, layers: Sequence[int]) -> int:
        """Those of its table."""
        return self.table.nbytes

    def part(self, layers: Sequence[int]) -> Chain:
        """The fewer layers, the more it says something else."""
        missed = np.float32(1 - len(layers) / LAYERS) / 2
        return Chain((1 - missed) * self.table + missed * np.flip(self.table, 0))

    def soften(self, weights: Logits, layer: int = 0) -> None:
        """Of soft tokens, each says what one of the others does."""

    def forget(self, keep: int = 0) -> None:
        """It remembers nothing."""

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class Draws:
    """Of one reply: [vocab, vocab] how often what followed what; tokens that a forward brought."""

    counts: npt.NDArray[np.int64]
    forwards: int


def loaded(table: Logits) -> LoadedModel:
    """A chain as a model."""
    return LoadedModel("chain", "scripted", "cpu", 0, Chain(table), CharacterTokenizer(), MarkedTemplate())


def run(draws: int, decoder: str, drafter: str, seed: int) -> tuple[Logits, Seeded, Iterator[Draws]]:
    """The target's table, the sampler, and replies of ``draws`` tokens together, from a decoder to which drafts cost
    nothing, so that it always drafts. Raises PredtuiError for names that are not known."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(SIZE, SIZE)).astype(np.float32)
    draft = loaded((table + rng.normal(scale=0.7, size=table.shape)).astype(np.float32))
    sampler, target = Seeded(TEMPERATURE, seed=seed), loaded(table)
    made = make_decoder(decoder, Parts(target, sampler, draft, instrument=Instrument(VirtualClock())), drafter)

    def replies() -> Iterator[Draws]:
        for number in range(-(-draws // REPLY)):
            before, first = target.model.counters.forwards, number % SIZE
            reply = made.generate([first], REPLY, _never_ends, position=number * (REPLY + 1))
            counts = np.zeros((SIZE, SIZE), np.int64)
            for pair in pairwise([first, *reply]):
                counts[pair] += 1
            yield Draws(counts, target.model.counters.forwards - before)
        made.close()

    return table, sampler, replies()


def chi_square(counts: npt.NDArray[np.int64], table: Logits, sampler: Seeded) -> float:
    """Pearson's statistic of what followed each token, vocab * (vocab - 1) degrees of freedom."""
    expected = np.stack([sampler.probabilities(row) for row in ArrayRows(table)]) * counts.sum(axis=1, keepdims=True)
    return float(((counts - expected) ** 2 / expected).sum())


def p_value(statistic: float, freedom: int) -> float:
    """The probability of a chi-square that is at least so large, by Wilson and Hilferty's cube root (1931)."""
    cubic = (statistic / freedom) ** (1 / 3)
    normal = (cubic - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))
    return math.erfc(normal / math.sqrt(2)) / 2


def _never_ends(token: int) -> bool:
    return False


def main(
    draws: int = 1_000_000, decoder: str = "sps", drafter: str = "rsd", seed: int = 0, json_path: Path | None = None
) -> int:
    """Run, print, write. Exit status 1 where the replies are another distribution's."""
    table, sampler, replies = run(draws, decoder, drafter, seed)
    watch = Watch[Draws](-(-draws // REPLY), "replies")
    found = watch(replies)
    counts = sum((one.counts for one in found), np.zeros((SIZE, SIZE), np.int64))
    total, forwards, freedom = int(counts.sum()), sum(one.forwards for one in found), SIZE * (SIZE - 1)
    statistic = chi_square(counts, table, sampler)
    p = p_value(statistic, freedom)
    name = f"{decoder} + {drafter}" if "drafter" in DECODERS.find(decoder).needs else decoder
    console().print(
        f"{name}: {total:,} draws, {total / forwards:.2f} a forward; chi-square {statistic:.1f} "
        f"with {freedom} degrees of freedom, p = {p:.3f}"
    )
    row = {"method": name, "draws": total, "forwards": forwards, "chi_square": round(statistic, 3), "p": round(p, 5)}
    result: dict[str, Any] = {"command": command(), "machine": machine(1), "rows": [row]}
    return watch.leave(result, json_path) or int(p < UNLIKELY)


def cli(
    draws: Annotated[int, typer.Option(help="Tokens drawn.", min=1)] = 1_000_000,
    decoder: Annotated[str, typer.Option(help="The decoder.")] = "sps",
    drafter: Annotated[str, typer.Option(help="What it drafts with.")] = "rsd",
    seed: Annotated[int, typer.Option(help="Seed of the chains and of the draws.")] = 0,
    json: Json = None,
) -> None:
    """``predtui bench distribution``."""
    DECODERS.find(decoder)
    DRAFTERS.find(drafter)
    raise typer.Exit(main(draws, decoder, drafter, seed, json))
