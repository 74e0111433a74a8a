"""Soft tokens: they change no row but their own, are not remembered, and are refused where they are none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.llm.around import ModelAround
from predtui.llm.load import load
from predtui.llm.rows import Logits
from predtui.llm.soft import check_weights, has_soft
from tests.llm.torch.networks import VOCABULARY

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

WIDTH, LAYERS = 32, 2
RANKS = (2, 3)
NO_SOFT = {"Gemma2", "Gemma3", "Mistral", "GptOss", "GPTNeoX", "Lfm2", "Mamba", "FalconH1"}
"""Families that take no trees, or whose layers are not plain ones in a list."""


def weights(ranks: int, count: int = 3) -> Logits:
    return np.random.default_rng(0).normal(size=(count, *[WIDTH] * (ranks - 1))).astype(np.float32)


def opened(family: str = "Llama") -> Any:
    from predtui.llm.torch.folder import wrapped
    from tests.llm.torch.networks import network_of

    return wrapped(network_of(family))


@pytest.fixture(scope="module")
def model() -> Any:
    return opened()


parents = st.lists(st.integers(-1, 99), max_size=5).map(lambda some: [min(p, n - 1) for n, p in enumerate(some)])
chains = st.lists(st.tuples(st.integers(-1, 4), st.integers(1, 3)), min_size=1, max_size=3)


@given(tokens=st.lists(st.integers(0, 96), min_size=1, max_size=9), parents=parents, chains=chains, ranks=st.data())
@settings(max_examples=40, deadline=None)
def test_they_change_no_row_but_their_own_and_are_not_remembered(
    tokens: list[int], parents: list[int], chains: list[tuple[int, int]], ranks: st.DataObject, model: Any
) -> None:
    tree = [(7 * node + 3) % VOCABULARY for node in range(len(parents))]
    soft, below = list(tree), list(parents)
    for node, length in chains:
        for number in range(length):
            below.append(len(soft) - 1 if number else min(node, len(tree) - 1))
            soft.append(VOCABULARY + number)
    model.forget()
    plain = model.forward_tree(tokens, tree, parents).logits
    model.soften(weights(kind := ranks.draw(st.sampled_from(RANKS))), kind - 2)
    model.forget(ranks.draw(st.integers(0, len(tokens))))
    rows = model.forward_tree(tokens, soft, below).logits
    assert len(rows) == 1 + len(soft)
    np.testing.assert_allclose(rows[: len(plain)], plain, atol=1e-3)
    path = [node for node in range(len(tree)) if parents[node] == node - 1 and all(map(_chained, pairwise(parents)))]
    known = model.counters.tokens
    after = model.forward([*tokens, *(tree[node] for node in path), 5]).logits
    assert model.counters.tokens - known <= 1 + (len(path) != len(tree)), "what was evaluated is remembered"
    model.forget()
    np.testing.assert_allclose(after, model.forward([*tokens, *(tree[n] for n in path), 5]).logits, atol=1e-3)


def _chained(pair: tuple[int, int]) -> bool:
    return pair[1] == pair[0] + 1


@pytest.mark.parametrize("ranks", RANKS)
def test_a_chain_is_the_same_alone_and_beside_others(ranks: int, model: Any) -> None:
    model.soften(weights(ranks), ranks - 2)
    first, second, third = VOCABULARY, VOCABULARY + 1, VOCABULARY + 2
    together = model.forward_tree([1, 2, 3], [8, 9, first, second, first, third], [-1, 0, 1, 2, -1, 4]).logits
    model.forget()
    alone = model.forward([1, 2, 3, 8, 9]) and model.forward_tree([1, 2, 3, 8, 9], [first, second], [-1, 0]).logits
    np.testing.assert_allclose(together[2:5], alone, atol=1e-3)
    assert not np.allclose(together[3], together[5], atol=0.1), "it depends on what it hangs under"


def test_an_embedding_that_a_token_has_is_that_token(model: Any) -> None:
    table = model.network.get_input_embeddings().weight.detach().numpy()
    model.soften(table[[11, 12]])
    soft = model.forward_tree([4, 5], [VOCABULARY, VOCABULARY + 1], [-1, 0]).logits
    np.testing.assert_allclose(soft, model.forward_tree([4, 5], [11, 12], [-1, 0]).logits, atol=1e-3)


def test_what_is_none_is_refused(model: Any) -> None:
    model.soften(weights(2))
    for tree, below in (([VOCABULARY, 5], [-1, -1]), ([VOCABULARY + 3], [-1]), ([-1], [-1])):
        with pytest.raises(ValueError, match="not within"):
            model.forward_tree([1, 2], tree, below)
    with pytest.raises(ValueError, match="not within"):
        model.forward([1, VOCABULARY])
    with pytest.raises(ValueError, match="not within"):
        opened().forward_tree([1, 2], [VOCABULARY], [-1])
    for shape, layer in (((3,), 0), ((0, WIDTH), 0), ((3, 5), 0), ((3, WIDTH, 5), 0), ((3, WIDTH), LAYERS)):
        with pytest.raises(ValueError, match="of shape"):
            check_weights(np.zeros(shape, np.float32), layer, WIDTH, LAYERS)


def test_families_take_them_or_declare_that_they_do_not() -> None:
    from tests.llm.torch.networks import FAMILIES

    for family in FAMILIES:
        model = opened(family)
        assert has_soft(model) == (family not in NO_SOFT), family
        if has_soft(model):
            model.soften(weights(3), 1)
            rows = _rows(model, [3, VOCABULARY, VOCABULARY + 1], [-1, 0, 1])
            np.testing.assert_allclose(rows[:2], _rows(model, [3], [-1]), atol=1e-3)


def _rows(model: Any, tree: Sequence[int], below: Sequence[int]) -> Logits:
    rows: Logits = ModelAround(model).forward_tree([1, 2], tree, below).logits
    return rows


def test_engines_without_them_are_refused() -> None:
    from predtui.decoding.assembly import make_drafter
    from predtui.decoding.parts import Parts
    from predtui.decoding.sampler import Greedy

    pocket = load("pocket", threads=1)
    with pytest.raises(PredtuiError, match=r"needs an engine that evaluates soft tokens\. Use --engine torch"):
        make_drafter("ppd", Parts(pocket, Greedy()))
    pocket.model.close()
