"""Sampled decoding is exact in distribution: a chi-square test of every decoder, with every drafter that it takes.

The model is a Markov chain over six tokens, so that each token that follows another is a draw of one known row, and a
few thousand tokens of a reply are a few thousand draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from predtui.clock import VirtualClock
from predtui.decoding.assembly import make_decoder
from predtui.decoding.base import Decoder, Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Seeded
from predtui.llm.abilities import Abilities
from predtui.llm.base import Counters, LoadedModel
from predtui.llm.rows import ArrayRows, Logits, Rows
from predtui.llm.scripted import CharacterTokenizer, MarkedTemplate
from predtui.registry import DECODERS, DRAFTERS
from tests.heads import heads_of
from tests.laws.test_decoders import no_end, store_of

SIZE = 6
TOKENS, REPLY = 6000, 200
CRITICAL = 59.7
"""Of a chi-square with 30 degrees of freedom: one run in a thousand exceeds it, and seeds are fixed."""


class Chain:
    """What follows a token depends on that token alone."""

    def __init__(self, table: Logits) -> None:
        self.counters = Counters()
        self.table = table

    @property
    def vocab_size(self) -> int:
        return SIZE

    @property
    def abilities(self) -> Abilities:
        return replace(Abilities.of_logits(SIZE), trees=True, windows=True, hidden=SIZE)

    @property
    def context_size(self) -> int:
        return 1024

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        self.counters.forwards += 1
        self.counters.tokens += last
        said = self.table[list(tokens[-last:])]
        return ArrayRows(said, said)

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        self.counters.forwards += 1
        self.counters.tokens += 1 + len(tree)
        said = self.table[[tokens[-1], *tree]]
        return ArrayRows(said, said)

    def tell_hidden(self) -> None:
        """Its rows have their states."""

    def window_bytes(self, cells: int = 0) -> int:
        """Those of its table."""
        return self.table.nbytes

    def window(self, cells: int = 0) -> Chain:
        """What has forgotten something says something else."""
        return Chain(np.flip(self.table, 0) / 2 + self.table / 2)

    def forget(self, keep: int = 0) -> None:
        """It remembers nothing."""

    def close(self) -> None:
        """Nothing is open."""


def loaded(table: Logits) -> LoadedModel:
    return LoadedModel("chain", "scripted", "cpu", 0, Chain(table), CharacterTokenizer(), MarkedTemplate())


def free_of_charge(name: str, drafter: str, target: LoadedModel, draft: LoadedModel, sampler: Sampler) -> Decoder:
    """A decoder to which drafts cost nothing, so that it always drafts."""
    store, heads = store_of(target), heads_of(target)
    parts = Parts(target, sampler, draft, store, heads, instrument=Instrument(VirtualClock()))
    return make_decoder(name, parts, drafter)


def chi_square(replies: Sequence[Sequence[int]], table: Logits, sampler: Seeded) -> float:
    counts: npt.NDArray[np.float64] = np.zeros((SIZE, SIZE))
    for reply in replies:
        for before, after in pairwise(reply):
            counts[before, after] += 1
    expected = np.stack([sampler.probabilities(row) for row in ArrayRows(table)]) * counts.sum(axis=1, keepdims=True)
    return float(((counts - expected) ** 2 / expected).sum())


PAIRS = [
    (name, drafter)
    for name, entry in sorted(DECODERS.items())
    for drafter in (sorted(DRAFTERS) if "drafter" in entry.needs else ["-"])
]


@pytest.mark.parametrize(("name", "drafter"), PAIRS)
def test_what_follows_a_token_has_the_distribution_of_the_target(name: str, drafter: str) -> None:
    rng = np.random.default_rng(11)
    table = rng.normal(size=(SIZE, SIZE)).astype(np.float32)
    other = (table + rng.normal(scale=0.7, size=table.shape)).astype(np.float32)
    sampler = Seeded(1.2, seed=5)
    target, draft = loaded(table), loaded(other)
    decoder = free_of_charge(name, drafter, target, draft, sampler)
    replies = []
    for number in range(TOKENS // REPLY):
        position = number * (REPLY + 1)
        replies.append(list(decoder.generate([number % SIZE], REPLY, no_end, position=position)))
        assert len(replies[-1]) == REPLY
    decoder.close()
    assert name == "ar" or decoder.statistics.proposed > TOKENS / 10
    assert chi_square(replies, table, sampler) < CRITICAL


def test_another_distribution_is_told_from_the_targets() -> None:
    rng = np.random.default_rng(11)
    table = rng.normal(size=(SIZE, SIZE)).astype(np.float32)
    sampler = Seeded(1.2, seed=5)
    other = loaded(table + np.eye(SIZE, dtype=np.float32))
    decoder = free_of_charge("ar", "-", other, other, sampler)
    replies = [list(decoder.generate([0], REPLY, no_end, position=n * REPLY)) for n in range(TOKENS // REPLY)]
    assert chi_square(replies, table, sampler) > CRITICAL
