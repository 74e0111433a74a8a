"""Trees that grow best first, out of chances made up and out of a draft model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.base import Sampler
from predtui.decoding.drafters.dyspec import UNLIKELY, DySpec
from predtui.decoding.drafters.grow import Options, Path, grow
from predtui.decoding.sampler import Greedy, Seeded, foreseen
from predtui.llm.rows import ArrayRow, ArrayRows, Rows
from predtui.llm.scripted import ScriptedModel

SIZE = 5


def chances(seed: int, sharpness: float, path: Path) -> Options:
    """Made up, and the same for the same path."""
    rng = np.random.default_rng([seed, *path])
    weights = np.exp(sharpness * rng.normal(size=SIZE))
    order = np.argsort(-weights)
    return [(int(token), float(weights[token] / weights.sum())) for token in order]


def chain(seed: int, sharpness: float, budget: int) -> float:
    """Tokens of a sequence of the likeliest ones that are expected to be accepted."""
    path: Path = ()
    chance, expected = 1.0, 0.0
    for _ in range(budget):
        token, share = chances(seed, sharpness, path)[0]
        chance *= share
        expected += chance
        path = (*path, token)
    return expected


@given(st.integers(0, 999), st.floats(0, 6), st.integers(0, 16))
def test_a_tree_is_never_expected_to_bring_less_than_a_sequence_of_its_size(
    seed: int, sharpness: float, budget: int
) -> None:
    asked: list[Path] = []

    def after(path: Path) -> Options:
        asked.append(path)
        return chances(seed, sharpness, path)

    tree = grow(after, budget)
    assert len(tree.tokens) == len(tree.chances) == budget
    assert sum(tree.chances) >= chain(seed, sharpness, budget) - 1e-9
    assert len(asked) == len(set(asked)) <= budget
    assert all(sooner >= later for sooner, later in pairwise(tree.chances))


@given(st.integers(0, 999), st.floats(0, 6), st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_no_tree_of_its_size_is_expected_to_bring_more(seed: int, sharpness: float, budget: int) -> None:
    """By search: a node is never likelier than its parent, so the likeliest nodes of all are the best tree."""

    def below(path: Path, chance: float) -> list[float]:
        if len(path) == budget:
            return []
        options = [((*path, token), chance * share) for token, share in chances(seed, sharpness, path)]
        return [likely for longer, share in options for likely in (share, *below(longer, share))]

    tree = grow(lambda path: chances(seed, sharpness, path), budget)
    assert list(tree.chances) == pytest.approx(sorted(below((), 1.0), reverse=True)[:budget])


class Small(ScriptedModel):
    """A model of five tokens that knows what it wants."""

    def __init__(self, sharpness: float, context: int = 64) -> None:
        super().__init__(2, context=context)
        self._sharpness = sharpness

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        return ArrayRows(super().forward(tokens, last).logits[:, -SIZE:] * np.float32(self._sharpness))


samplers = st.just(Greedy()) | st.builds(Seeded, temperature=st.floats(0.3, 2.0), seed=st.integers(0, 99))
contexts = st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=24)


@given(samplers, contexts, st.floats(0, 3), st.integers(0, 20), st.booleans(), st.integers(20, 40))
@settings(deadline=None)
def test_each_path_is_what_the_draft_model_may_say(
    sampler: Sampler, context: list[int], sharpness: float, budget: int, branching: bool, room: int
) -> None:
    end, model = 3, Small(sharpness, room)
    draft = DySpec(model, sampler, end.__eq__, branching).propose(context, budget, len(context) - 1)
    assert len(draft.tokens) <= budget
    assert branching or not draft.parents
    paths: dict[int, Path] = {-1: ()}
    for node, (token, chance) in enumerate(zip(draft.tokens, draft.chances, strict=True)):
        above = paths[draft.parent(node)]
        paths[node] = (*above, token)
        assert end not in above
        assert len(context) + len(above) <= room
        row = Small(sharpness).forward([*context, *above])[-1]
        before = draft.chances[draft.parent(node)] if above else 1.0
        share = dict(foreseen(sampler, row, len(context) - 1 + len(above), SIZE))[token]
        assert chance == pytest.approx(before * share)
        assert chance > UNLIKELY


@given(st.floats(0.3, 2.0), st.integers(0, 999), st.integers(0, 999), st.integers(1, 9))
def test_a_model_that_says_the_same_is_foreseen(temperature: float, seed: int, position: int, count: int) -> None:
    """The first is what is chosen, greedily and with the noise of the position."""
    row = ArrayRow(np.random.default_rng(seed).normal(size=9).astype(np.float32))
    for sampler in (Greedy(), Seeded(temperature, top_k=5, seed=seed)):
        likely = foreseen(sampler, row, position, count)
        assert likely[0][0] == sampler.choose(row, position)
        assert len(likely) <= count
        assert math.fsum(chance for _, chance in likely) <= 1 + 1e-6
