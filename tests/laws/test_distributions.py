"""Sampled decoding is exact in distribution: a chi-square test of every decoder, with every drafter that it takes.

The model is a Markov chain over six tokens, so that each token that follows another is a draw of one known row, and a
few thousand tokens of a reply are a few thousand draws.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from predtui.lab.bench import distribution
from predtui.lab.bench.distribution import SIZE, chi_square, loaded, p_value
from predtui.llm.base import LoadedModel
from predtui.registry import DECODERS, DRAFTERS
from tests.heads import heads_of
from tests.laws.test_decoders import no_end, store_of

TOKENS, REPLY = 6000, 200
CRITICAL = 59.7
"""Of a chi-square with 30 degrees of freedom: one run in a thousand exceeds it, and seeds are fixed."""


def free_of_charge(name: str, drafter: str, target: LoadedModel, draft: LoadedModel, sampler: Sampler) -> Decoder:
    """A decoder to which drafts cost nothing, so that it always drafts. Of arms that have heads, which all draw by
    the same code, ``auto`` has the fastest: each is a drafter of its own here, too."""
    store, heads = store_of(target), heads_of(target) / ("medusa" if drafter == "auto" else "")
    parts = Parts(target, sampler, draft, store, heads, instrument=Instrument(VirtualClock()))
    return make_decoder(name, parts, drafter)


def counted(replies: Sequence[Sequence[int]]) -> npt.NDArray[np.int64]:
    """How often what followed what."""
    counts = np.zeros((SIZE, SIZE), np.int64)
    for reply in replies:
        for pair in pairwise(reply):
            counts[pair] += 1
    return counts


ALIKE = {"clover", "falcon", "chimera", "hidden-transfer"}
"""Drafters whose tokens are drawn as EAGLE's or PPD's, by the same code, however their chances come about."""
PAIRS = [
    (name, drafter)
    for name, entry in sorted(DECODERS.items())
    for drafter in (sorted({*DRAFTERS} - ALIKE) if "drafter" in entry.needs else ["-"])
    if not entry.alters
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
    assert chi_square(counted(replies), table, sampler) < CRITICAL


def test_another_distribution_is_told_from_the_targets() -> None:
    rng = np.random.default_rng(11)
    table = rng.normal(size=(SIZE, SIZE)).astype(np.float32)
    sampler = Seeded(1.2, seed=5)
    other = loaded(table + np.eye(SIZE, dtype=np.float32))
    decoder = free_of_charge("ar", "-", other, other, sampler)
    replies = [list(decoder.generate([0], REPLY, no_end, position=n * REPLY)) for n in range(TOKENS // REPLY)]
    assert chi_square(counted(replies), table, sampler) > CRITICAL


def test_the_bench_draws_from_the_target_and_tells_how_likely_its_chi_square_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert distribution.main(20_000, "sps", "rsd", seed=3) == 0
    assert "20,000 draws" in capsys.readouterr().out
    assert p_value(CRITICAL, 30) == pytest.approx(0.001, rel=0.05)
    assert p_value(29.3, 30) == pytest.approx(0.5, abs=0.01)
    table, sampler, replies = distribution.run(20_000, "ar", "model", seed=3)
    other = table + np.eye(SIZE, dtype=np.float32) / 3
    assert p_value(chi_square(sum(one.counts for one in replies), other, sampler), 30) < 1e-6
