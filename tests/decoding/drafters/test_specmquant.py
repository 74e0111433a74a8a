"""A small model settles on a sequence out of trees: what it says itself, in fewer forwards; for a quantised target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.assembly import make_decoder
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.recycling import TokenRecycling
from predtui.decoding.drafters.specmquant import Settled
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.llm.load import load
from predtui.llm.rows import ArrayRows, Rows
from predtui.llm.scripted import ScriptedModel
from tests.laws.test_lossless import differs_by_near_tie
from tests.tiny_gguf import quantise, write

contexts = st.lists(st.integers(4, ScriptedModel().vocab_size - 1), min_size=1, max_size=20)
samplers = st.just(Greedy()) | st.builds(Seeded, temperature=st.floats(0.3, 2.0), seed=st.integers(0, 99))


class Sure(ScriptedModel):
    """The same choices, beyond doubt."""

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        return ArrayRows(super().forward(tokens, last).logits * 5000)

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        return ArrayRows(super().forward_tree(tokens, tree, parents).logits * 5000)


class Foreseeing:
    """A tree on one branch of which is what will follow."""

    def __init__(self, coming: Sequence[int], start: int) -> None:
        self._coming, self._start = coming, start

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        ahead = tuple(self._coming[len(context) - self._start :][: max(0, budget - 1)])
        return Draft((5, *ahead), (-1, -1, *range(1, len(ahead))) if ahead else (-1,)) if budget else Draft(())

    def observe(self, verification: Verification) -> None:
        """It knows."""

    def reset(self) -> None:
        """It knows."""


@given(contexts, samplers, st.integers(1, 20), st.integers(0, 3))
def test_the_sequence_is_what_the_small_model_says(context: list[int], sampler: Sampler, budget: int, end: int) -> None:
    plain = list(generate(Sure(), context, sampler, budget, end.__eq__))
    model = Sure()
    settled = Settled(model, sampler, end.__eq__, TokenRecycling(model.vocab_size, branching=True))
    for _ in range(2):
        draft = settled.propose(context, budget)
        assert list(draft.tokens) == plain
        assert not draft.branches


def test_it_takes_fewer_forwards_than_tokens() -> None:
    plain = list(generate(Sure(), [7, 9], Greedy(), 12, lambda token: False))
    model = Sure()
    draft = Settled(model, Greedy(), lambda token: False, Foreseeing(plain, 2)).propose([7, 9], 12)
    assert list(draft.tokens) == plain
    assert model.counters.forwards <= 2


@pytest.mark.parametrize("kind", ["Q4_0", "Q8_0"])
def test_equals_plain_decoding_of_the_quantised_target(kind: str, tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.gguf", feed_forward=64)
    target = load(str(quantise(whole, tmp_path / f"{kind}.gguf", kind)), threads=1)
    draft = load(str(whole), threads=1)
    decoder = make_decoder("speculative", Parts(target, Greedy(), draft), "specmquant")
    near_ties = 0
    for prompt in ([1, 2, 3, 4], [70, 71, 72], [9] * 30):
        plain = list(generate(target.model, prompt, Greedy(), 30, target.tokenizer.is_end))
        drafted = list(decoder.generate(prompt, 30, target.tokenizer.is_end))
        near_ties += differs_by_near_tie(target, Greedy(), prompt, plain, drafted)
    assert decoder.statistics.accepted
    assert near_ties <= 1
    for loaded in (target, draft):
        loaded.model.close()
