from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.accept import ExactMatch
from predtui.decoding.autoregressive import generate
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.lookahead import Lookahead
from predtui.decoding.sampler import Greedy
from predtui.llm.rows import ArrayRows
from predtui.llm.scripted import ScriptedModel


def round_of(drafter: Lookahead, model: ScriptedModel, context: list[int], budget: int) -> tuple[Draft, list[int]]:
    """A draft, judged: it and the tokens that follow ``context`` now."""
    draft = drafter.propose(context, budget)
    rows = model.forward_tree(context, draft.tokens, draft.parents)
    path, token, _ = ExactMatch(Greedy()).walk(draft, rows, 0)
    verification = Verification(tuple(context), draft, tuple(path), token, True, rows)
    drafter.observe(verification)
    return draft, [*verification.tokens]


@given(st.lists(st.integers(4, 40), min_size=1, max_size=8), st.lists(st.integers(1, 16), min_size=1, max_size=20))
def test_a_draft_is_a_tree_within_its_budget_and_never_misleads(context: list[int], budgets: list[int]) -> None:
    drafter, model, start = Lookahead(), ScriptedModel(2), len(context)
    for budget in budgets:
        draft, new = round_of(drafter, model, context, budget)
        assert len(draft.tokens) == len(draft.parents) <= budget
        edges = list(zip(draft.parents, draft.tokens, strict=True))
        assert len(set(edges)) == len(edges)
        assert all(parent < node for node, parent in enumerate(draft.parents))
        context = [*context, *new]
    plain = generate(ScriptedModel(2), context[:start], Greedy(), len(context) - start, lambda token: False)
    assert context[start:] == list(plain)


class Counting:
    """A model whose next token is the one after: Jacobi iteration finds n-grams of it at once."""

    @staticmethod
    def rows(tokens: Sequence[int], vocab: int = 50) -> list[list[float]]:
        return [[float(candidate == (token + 1) % vocab) for candidate in range(vocab)] for token in tokens]


def test_n_grams_that_the_window_made_are_guessed_when_their_first_token_comes() -> None:
    drafter, context = Lookahead(), [7]
    accepted = 0
    for _ in range(80):
        draft = drafter.propose(context, 16)
        rows = ArrayRows(np.array(Counting.rows([context[-1], *draft.tokens]), np.float32))
        path, token, _ = ExactMatch(Greedy()).walk(draft, rows, 0)
        verification = Verification(tuple(context), draft, tuple(path), token, True, rows)
        drafter.observe(verification)
        accepted += len(path)
        context += verification.tokens
        assert context == [(7 + i) % 50 for i in range(len(context))]
    assert accepted > 80


def test_another_draft_than_its_own_teaches_nothing() -> None:
    drafter = Lookahead()
    draft = drafter.propose([1, 2, 3], 12)
    drafter.observe(Verification((1, 2, 3), Draft((9, 9)), (), 4, True, ArrayRows(np.zeros((3, 50), np.float32))))
    assert drafter.propose([1, 2, 3], 12) == draft
