"""n-grams of logits: drawn from with the target's own noise, the longest first, in a tree that data shapes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.stand import LONGEST, Stand
from predtui.decoding.sampler import Greedy, Seeded
from predtui.lab.bench.distribution import SIZE, Chain
from predtui.llm.rows import ArrayRows, Logits

samplers = st.just(Greedy()) | st.builds(Seeded, temperature=st.floats(0.3, 2.0), seed=st.integers(0, 99))


def seen(*tokens: int, rows: Logits) -> Verification:
    """A forward over ``tokens``, after the first of which all were drafted and none was right."""
    return Verification(tokens[:1], Draft(tokens[1:]), (), 0, True, ArrayRows(rows))


@given(samplers, st.integers(0, 99), st.integers(0, SIZE - 1), st.integers(0, 500), st.integers(1, 9))
@settings(deadline=None)
def test_what_is_known_is_drawn_as_the_target_draws_it(
    sampler: Sampler, seed: int, first: int, position: int, budget: int
) -> None:
    """Of a target of which all is known, at any temperature, the best path is the reply."""
    model = Chain(np.random.default_rng(seed).normal(size=(SIZE, SIZE)).astype(np.float32))
    drafter = Stand(sampler, SIZE, branching=False)
    for token in range(SIZE):
        drafter.observe(seen(token, rows=model.table[[token]]))
    drafter._right[:, 0] = drafter._judged  # as after many replies that it foretold
    reply = generate(model, [first], sampler, budget, lambda _: False, position=position)
    assert list(drafter.propose([first], budget, position).tokens) == list(reply)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=12), st.lists(st.integers(0, 2), min_size=1, max_size=6))
def test_the_longest_known_ngram_leads_and_its_latest_occurrence_counts(said: list[int], context: list[int]) -> None:
    """By search; row i says i, so that a candidate tells where it was learnt."""
    size = max(len(said), 8)
    drafter = Stand(Greedy(), size, branching=False)
    drafter.observe(seen(*said, rows=9 * np.eye(len(said), size, dtype=np.float32)))
    expected = None
    for length in range(min(LONGEST, len(context)), 0, -1):
        ends = [end for end in range(length, len(said) + 1) if said[end - length : end] == context[-length:]]
        if ends:
            expected = ends[-1] - 1
            break
    assert drafter.propose(context, 1).tokens == (() if expected is None else (expected,))


def test_the_tree_grows_where_candidates_turned_out_right() -> None:
    """Where the third candidate is always the right one, it comes to be drafted before the others."""
    row = -np.arange(12, dtype=np.float32)[None]
    drafter = Stand(Greedy(), 12, branching=True)
    drafter.observe(seen(5, rows=row))
    assert drafter.propose([5], 3).tokens[0] == 0
    for _ in range(300):
        draft = drafter.propose([5], 3)
        path = tuple(node for node in draft.children(-1) if draft.tokens[node] == 2)
        rows = ArrayRows(np.repeat(row, 1 + len(draft.tokens), axis=0))
        drafter.observe(Verification((5,), draft, path, 7 if path else 2, True, rows))
    assert drafter.propose([5], 3).tokens[0] == 2


def test_memory_is_bounded() -> None:
    drafter, rng = Stand(Greedy(), 1000, branching=True, capacity=100), np.random.default_rng(0)
    for _ in range(30):
        tokens = rng.integers(0, 1000, 9).tolist()
        drafter.observe(seen(*tokens, rows=rng.normal(size=(9, 1000)).astype(np.float32)))
        assert len(drafter._known) <= 100
        assert drafter.propose(tokens, 4).tokens
