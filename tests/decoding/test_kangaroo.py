"""Kangaroo: an adapter behind the target's first layers, which reads a context in any pieces as it reads it at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding import heads
from predtui.decoding.assembly import make_decoder, make_drafter
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.drafters.kangaroo import PIECE, SPAN, UNSURE, Adapter, KangarooDrafter, inner
from predtui.decoding.heads import Array
from predtui.decoding.memory import Allowance
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, Preempted
from predtui.llm.load import load
from predtui.llm.rows import Rows
from tests.heads import heads_of, random_heads


def no_end(_token: int) -> bool:
    return False


@pytest.fixture(scope="module")
def target() -> LoadedModel:
    return load("5", "scripted")


def states(count: int, width: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


@given(cuts=st.lists(st.integers(1, 30), max_size=5), kept=st.integers(0, 30))
def test_pieces_are_read_as_the_whole_is_and_what_is_cut_is_forgotten(cuts: list[int], kept: int) -> None:
    weights = random_heads("kangaroo", load("5", "scripted"), width=130)
    known = states(31, 130)
    once = Adapter(weights).read(known)
    adapter = Adapter(weights)
    places = sorted({0, *cuts, 31})
    for start, end in pairwise(places):
        told = adapter.read(known[start:end])
    np.testing.assert_allclose(told, once, atol=1e-4)
    adapter.cut(kept)
    adapter.read(states(1, 130, seed=1))
    adapter.cut(kept)
    np.testing.assert_allclose(adapter.read(known[kept:]), once, atol=1e-4)


@pytest.mark.parametrize(("width", "expected"), [(1, 0), (7, 6), (8, 8), (64, 64), (100, 64), (256, 256)])
def test_heads_are_whole_and_of_an_even_width(width: int, expected: int) -> None:
    assert inner(width) == expected


@pytest.mark.parametrize("sampler", [Greedy(), Seeded(0.8, seed=3)], ids=["greedy", "sampled"])
def test_the_reply_is_that_of_plain_decoding(sampler: Sampler, target: LoadedModel) -> None:
    looks: list[int] = []
    parts = Parts(
        replace(target, looked=looks.append), sampler, heads=heads_of(target), instrument=Instrument(VirtualClock())
    )
    decoder = make_decoder("speculative", parts, "kangaroo")
    for prompt in ([5, 9, 13], [8, 20, 31, 44], [5, 9, 13, 17]):
        plain = list(generate(target.model, prompt, sampler, 60, no_end))
        assert list(decoder.generate(prompt, 60, no_end)) == plain
    assert decoder.statistics.proposed > 0
    assert len(looks) >= decoder.statistics.proposed


@given(st.integers(1, 3 * SPAN))
@settings(max_examples=10, deadline=None)
def test_what_it_remembers_takes_what_it_says(count: int) -> None:
    weights = random_heads("kangaroo", load("5", "scripted"), width=130)
    adapter, before = Adapter(weights), heads.held(Adapter(weights))
    adapter.read(states(count, 130))
    assert adapter.room(1) * adapter.known <= adapter._memory.nbytes <= before + 2 * adapter.room(count)


class Sure(Adapter):
    """Says what its state says, and is as sure of it as it is told to be."""

    def __init__(self, target: LoadedModel, scale: float) -> None:
        super().__init__(random_heads("kangaroo", target))
        self.tokens, self.scale, self.reads = np.arange(target.model.vocab_size), scale, list[int]()

    def read(self, states: Array) -> Array:
        super().read(states)
        self.reads.append(len(states))
        logits: Array = self.scale * states[-1]
        return logits


def drafter_of(target: LoadedModel, scale: float) -> tuple[KangarooDrafter, Sure]:
    part = target.model.part(range(target.abilities.layers))  # type: ignore[attr-defined]
    part.tell_hidden()
    adapter = Sure(target, scale)
    return KangarooDrafter(part, adapter, Greedy(), no_end), adapter


def test_a_sure_draft_is_whole_and_an_unsure_one_ends_with_its_first_doubt(target: LoadedModel) -> None:
    drafter, _ = drafter_of(target, 50.0)
    prompt = [9, 20, 31]
    assert list(drafter.propose(prompt, 12).tokens) == list(generate(target.model, prompt, Greedy(), 12, no_end))
    drafter, _ = drafter_of(target, 0.0)
    assert len((draft := drafter.propose(prompt, 12)).tokens) == 1
    assert draft.chances[0] < UNSURE


def test_what_is_known_of_a_context_is_not_read_again(target: LoadedModel) -> None:
    drafter, adapter = drafter_of(target, 50.0)
    long = [5 + number % 40 for number in range(SPAN + 90)]
    drafter.propose(long, 3)
    assert adapter.reads == [*[PIECE] * (SPAN // PIECE), 1, 1], "the end alone, in pieces"
    adapter.reads.clear()
    drafter.propose([*long, 50, 51], 2)
    assert adapter.reads == [2, 1]
    adapter.reads.clear()
    drafter.propose([50, *long[1:], 50], 1)
    assert sum(adapter.reads) == SPAN, "the same end behind another beginning"
    adapter.reads.clear()
    drafter.propose([50, 51, 52], 1)
    assert adapter.reads == [3]


@given(cut=st.integers(1, 20), pieces=st.integers(0, 3))
@settings(max_examples=20, deadline=None)
def test_a_preempted_draft_leaves_only_what_was_read_known(cut: int, pieces: int) -> None:
    target = load("5", "scripted")
    drafter, adapter = drafter_of(target, 50.0)
    long = [5 + number % 40 for number in range(4 * PIECE)]
    other = [*long[:cut], *(50 - number % 31 for number in range(3 * PIECE + cut))]
    drafter.propose(long, 3)
    part, forwards = drafter._part, count()

    class Preempting:
        context_size = part.context_size

        def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
            if next(forwards) == pieces:
                raise Preempted
            return part.forward(tokens, last)

    drafter._part = Preempting()  # type: ignore[assignment]
    with pytest.raises(Preempted):
        drafter.propose(other, 1)
    drafter._part = part
    for context in (long, other):
        drafter._after(context)
        assert adapter.known == len(context) - drafter._start


def test_a_file_for_another_target_is_refused(target: LoadedModel, tmp_path: Path) -> None:
    made = random_heads("kangaroo", target)
    for wrong in (0, 4):
        heads.write(replace(made, tensors={**made.tensors, "exit": np.array([wrong])}), tmp_path)
        with pytest.raises(PredtuiError, match=f"stand behind {wrong} layers, and scripted has 4"):
            make_drafter("kangaroo", Parts(target, Greedy(), heads=tmp_path))
    with pytest.raises(PredtuiError, match="What kangaroo drafts with takes"):
        make_drafter("kangaroo", Parts(target, Greedy(), heads=heads_of(target), memory=Allowance(1000)))
    heads.write(replace(made, tensors={"tokens": made.tokens}), tmp_path)
    with pytest.raises(PredtuiError, match="cannot be read"):
        make_drafter("kangaroo", Parts(target, Greedy(), heads=tmp_path))
