"""Trees drawn without replacement, and recursive rejection sampling of them: the distribution is the target's."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.accept import RejectionSampling
from predtui.decoding.base import WIDEST, Sampler
from predtui.decoding.drafters.rsd import RSD, WIDTHS, without_replacement
from predtui.decoding.sampler import Greedy, Seeded, foreseen
from predtui.llm.rows import ArrayRow, ArrayRows
from predtui.llm.scripted import ScriptedModel

SIZE = 4
DRAWS = 6000
CRITICAL = {3: 16.3, 11: 31.3, 15: 37.7}
"""Of a chi-square by its degrees of freedom: one run in a thousand exceeds it, and seeds are fixed."""
samplers = st.just(Greedy()) | st.builds(Seeded, temperature=st.floats(0.3, 2.0), seed=st.integers(0, 99))


def logits(seed: int, *shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def chi_square(counts: Counter[tuple[int, ...]], expected: dict[tuple[int, ...], float]) -> float:
    return sum((counts[key] - DRAWS * chance) ** 2 / (DRAWS * chance) for key, chance in expected.items())


def test_siblings_are_draws_from_those_that_are_left() -> None:
    row = ArrayRow(logits(1, SIZE))
    p = Seeded(1.1).probabilities(row)
    expected = {(a, b): p[a] * p[b] / (1 - p[a]) for a, b in permutations(range(SIZE), 2)}
    seen: Counter[tuple[int, ...]] = Counter()
    for seed in range(DRAWS):
        children = without_replacement(Seeded(1.1, seed=seed), row, 7, 2)
        seen[tuple(token for token, _ in children)] += 1
        for (token, q), before in zip(children, (1.0, 1 - p[children[0][0]]), strict=True):
            assert q is not None
            assert q.sum() == pytest.approx(1)
            assert q[token] == pytest.approx(p[token] / before)
    assert chi_square(seen, expected) < CRITICAL[11]


class Chain:
    """A draft model in which what follows a token depends on that token alone."""

    def __init__(self, table: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> None:
        self._table, self.context_size = table, 99

    def forward(self, tokens: list[int], last: int = 1) -> ArrayRows:
        return ArrayRows(self._table[tokens[-last:]])


@pytest.mark.parametrize("honest", [True, False])
def test_two_tokens_of_a_tree_have_the_distribution_of_the_target(honest: bool) -> None:
    """The same test fails where siblings are judged as if they were drawn with replacement."""
    target, other = logits(2, SIZE, SIZE), logits(3, SIZE, SIZE)
    seen: Counter[tuple[int, ...]] = Counter()
    for seed in range(DRAWS):
        sampler, reply = Seeded(0.9, seed=seed), [0]
        while len(reply) < 3:
            drafter = RSD(Chain(other), sampler, lambda token: False)  # type: ignore[arg-type]
            draft = drafter.propose(reply, 6, len(reply) - 1)
            assert draft.q is not None
            if not honest:
                for node in range(len(draft.tokens)):
                    parent = draft.parent(node)
                    before = reply[-1] if parent < 0 else draft.tokens[parent]
                    draft.q[node] = sampler.probabilities(ArrayRow(other[before]))
            rows = ArrayRows(target[[reply[-1], *draft.tokens]])
            path, token, _ = RejectionSampling(sampler).walk(draft, rows, len(reply) - 1)
            assert token is not None
            reply += [*(draft.tokens[node] for node in path), token]
        seen[reply[1], reply[2]] += 1
    p = [Seeded(0.9).probabilities(row) for row in ArrayRows(target)]
    expected = {(a, b): float(p[0][a] * p[a][b]) for a in range(SIZE) for b in range(SIZE)}
    assert (chi_square(seen, expected) < CRITICAL[15]) == honest


@given(samplers, st.lists(st.integers(0, 40), min_size=1, max_size=20), st.integers(0, 20), st.booleans())
@settings(deadline=None)
def test_the_tree_branches_as_it_says_and_keeps_its_budget(
    sampler: Sampler, context: list[int], budget: int, branching: bool
) -> None:
    model = ScriptedModel(2)
    draft = RSD(model, sampler, lambda token: False, branching).propose(context, budget, 3)
    assert len(draft.tokens) == (min(budget, WIDEST) if branching else budget)
    chosen = sampler.choose(model.forward(context)[-1], 3)
    assert not draft.tokens or draft.tokens[0] == chosen
    depths = {-1: 0}
    for node in range(-1, len(draft.tokens)):
        children = draft.children(node)
        depths |= dict.fromkeys(children, depths[node] + 1)
        assert len({draft.tokens[child] for child in children}) == len(children)
        assert len(children) <= ((*WIDTHS, *[1] * len(draft.tokens))[depths[node]] if branching else 1)


@pytest.mark.filterwarnings("error")
def test_what_noise_lifts_out_of_nothing_is_not_drawn() -> None:
    """The chance of the second token is no number of 64 bits; with the noise of some positions it is."""
    row, sampler = ArrayRow(np.array([0.0, -748.0], np.float32)), Seeded(1.0)
    lifted = 0
    for position in range(400):
        lifted += len(foreseen(sampler, row, position, 2)) > 1
        ((token, q),) = without_replacement(sampler, row, position, 2)
        assert q is not None
        assert (token, q.tolist()) == (0, [1.0, 0.0])
    assert lifted
