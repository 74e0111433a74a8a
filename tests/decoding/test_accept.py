"""One verification: what a rule accepts of a draft is what its definition says, whatever the shape of the draft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.accept import Acceptance, ExactMatch, RejectionSampling, TopK, verify
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.sampler import Greedy, Seeded
from predtui.llm.base import Counters
from predtui.llm.rows import Rows
from predtui.llm.scripted import ScriptedModel
from tests.decoding.test_draft import drafts

CONTEXT = [5, 9, 14]
samplers = st.sampled_from([Greedy(), Seeded(seed=4), Seeded(temperature=0.4, seed=9)])
positions = st.integers(0, 30)


class Plain:
    """The scripted model without trees."""

    def __init__(self) -> None:
        self._model = ScriptedModel(3)
        self.counters: Counters = self._model.counters
        self.vocab_size, self.context_size = self._model.vocab_size, self._model.context_size
        self.abilities = replace(self._model.abilities, trees=False, spares=False)

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        return self._model.forward(tokens, last)

    def forget(self, keep: int = 0) -> None: ...

    def close(self) -> None: ...


def never_ends(_token: int) -> bool:
    return False


def judged(draft: Draft, rule: Acceptance, position: int = 0) -> Verification:
    model = ScriptedModel(3)
    verification = verify(model, CONTEXT, draft, rule, position, never_ends)
    assert model.counters.forwards == 1
    assert len(verification.rows) == 1 + draft.evaluated == len(verification.evaluated)
    assert all(draft.parent(b) == a for a, b in zip((-1, *verification.path), verification.path, strict=False))
    return verification


def plausible(draft: Draft, sampler: Sampler, position: int) -> Draft:
    """``draft`` with every second token replaced by what the model would say there, so that some of it is accepted.
    No two siblings are equal."""
    tokens: list[int] = []
    for node, token in enumerate(draft.tokens):
        above, up = [], draft.parent(node)
        while up >= 0:
            above, up = [tokens[up], *above], draft.parent(up)
        context = [*CONTEXT, *above]
        said = next(generate(ScriptedModel(3), context, sampler, 1, never_ends, position=position + len(above)))
        siblings = [tokens[i] for i in range(node) if draft.parent(i) == draft.parent(node)]
        token = token if node % 2 else said
        while token in siblings:
            token = token % 40 + 4
        tokens.append(token)
    return replace(draft, tokens=tuple(tokens))


@given(drafts(), samplers, positions)
@settings(max_examples=40, deadline=None)
def test_an_exact_match_is_plain_decoding_as_far_as_it_goes(draft: Draft, sampler: Sampler, position: int) -> None:
    draft = plausible(draft, sampler, position)
    verification = judged(draft, ExactMatch(sampler), position)
    count = len(draft.tokens) + 1
    plain = list(generate(ScriptedModel(3), CONTEXT, sampler, count, never_ends, position=position))
    assert list(verification.tokens) == plain[: len(verification.tokens)]
    assert verification.lossless
    last = verification.path[-1] if verification.path else -1
    assert verification.more == (last >= draft.evaluated) == (verification.next_token is None)
    if not verification.more:
        assert draft.child(last, plain[len(verification.path)]) == -1


def paths(draft: Draft, node: int = -1) -> Iterator[list[int]]:
    """All paths below ``node``, the empty one first."""
    yield []
    for child in draft.children(node):
        for rest in paths(draft, child):
            yield [child, *rest]


@given(drafts(), samplers, st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_of_the_paths_that_pass_top_k_accepts_a_longest(draft: Draft, sampler: Sampler, k: int) -> None:
    draft = plausible(draft, sampler, 0)
    verification = judged(draft, TopK(sampler, k))

    def passes(path: list[int]) -> bool:
        rows = [verification.rows[draft.parent(node) + 1] for node in path]
        return all(
            row.rank(draft.tokens[node]) < k or sampler.choose(row, depth) == draft.tokens[node]
            for depth, (node, row) in enumerate(zip(path, rows, strict=True))
        )

    longest = max(len(path) for path in paths(draft) if passes(path))
    assert passes([*verification.path])
    assert len(verification.path) == longest
    exact = [sampler.choose(verification.rows[draft.parent(n) + 1], i) for i, n in enumerate(verification.path)]
    assert verification.lossless == (exact == list(verification.accepted))


@given(drafts(), samplers)
@settings(max_examples=40, deadline=None)
def test_the_likeliest_alone_is_the_greedy_choice(draft: Draft, sampler: Sampler) -> None:
    draft = plausible(draft, Greedy(), 0)
    one, exact = judged(draft, TopK(Greedy(), 1)), judged(draft, ExactMatch(Greedy()))
    assert (one.accepted, one.next_token, one.more) == (exact.accepted, exact.next_token, exact.more)
    sampled = judged(replace(draft, q=None), RejectionSampling(Greedy()))
    assert (sampled.accepted, sampled.next_token, sampled.more) == (exact.accepted, exact.next_token, exact.more)


@given(drafts(), samplers)
@settings(max_examples=40, deadline=None)
def test_an_engine_without_trees_verifies_the_best_path(draft: Draft, sampler: Sampler) -> None:
    draft = plausible(draft, sampler, 0)
    alone = verify(Plain(), CONTEXT, draft, ExactMatch(sampler), 0, never_ends)
    path = draft.best_path() if draft.branches else draft
    assert alone.draft == path
    assert alone == judged(path, ExactMatch(sampler))


@pytest.mark.parametrize("rule", [ExactMatch(Greedy()), TopK(Greedy(), 3), RejectionSampling(Greedy())])
@pytest.mark.parametrize("tail", [0, 1])
def test_nothing_follows_an_end_token(rule: Acceptance, tail: int) -> None:
    """Whether it was evaluated, or only judged."""
    plain = tuple(generate(ScriptedModel(3), CONTEXT, Greedy(), 5, never_ends))
    end = plain.index(plain[3])
    draft = Draft(plain[: end + 1 + (not tail)], tail=tail)
    verification = verify(ScriptedModel(3), CONTEXT, draft, rule, 0, lambda token: token == plain[end])
    assert (verification.tokens, verification.next_token, verification.more) == (plain[: end + 1], None, False)


@given(drafts(), st.integers(1, 30), st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_what_stands_behind_an_end_counts_for_nothing(draft: Draft, k: int, often: int) -> None:
    """Neither for which path is the longest, nor for whether the reply is plain decoding's."""

    def ends(token: int) -> bool:
        return token % often == 0

    draft = plausible(draft, Greedy(), 0)
    found = verify(ScriptedModel(3), CONTEXT, draft, TopK(Greedy(), k), 0, ends)
    chosen = [found.rows[draft.parent(node) + 1].argmax() for node in found.path]
    assert found.lossless == (chosen == list(found.accepted))
    inner = [node for node in range(len(draft.tokens)) if not ends(draft.tokens[node])]
    longest = 0
    for path in paths(draft):
        rows = [found.rows[draft.parent(node) + 1] for node in path]
        passes = all(row.rank(draft.tokens[node]) < k for node, row in zip(path, rows, strict=True))
        if passes and all(node in inner for node in path[:-1]):
            longest = max(longest, len(path))
    assert len(found.path) == longest
