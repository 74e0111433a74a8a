"""Parts of a model: the layers that are asked for and no others, the same in every engine."""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.base import LoadedModel
from predtui.llm.layers import check_layers, has_layers
from predtui.llm.load import load
from predtui.llm.rows import Logits

SOME = ([0], [0, 1], [0, 2, 3, 7], [0, 1, 2, 3, 4, 5])
LINKED = {"GPTNeoX", "Lfm2", "Mamba", "FalconH1"}
"""Families whose layers are no plain ones in a list, or keep a state."""


@pytest.fixture(scope="module")
def pockets() -> Iterator[list[LoadedModel]]:
    pytest.importorskip("transformers")
    engines = [load("pocket", engine, 1) for engine in ("numpy", "torch", "llamacpp")]
    yield engines
    for loaded in engines:
        loaded.model.close()


@pytest.mark.parametrize("layers", SOME, ids=str)
def test_a_part_is_the_same_in_every_engine(layers: list[int], pockets: list[LoadedModel]) -> None:
    tokens, told = random.Random(1).choices(range(10, 3000), k=30), list[tuple[Logits, Logits]]()
    for loaded in pockets:
        assert has_layers(loaded.model)
        part = loaded.model.part(layers)
        part.tell_hidden()  # type: ignore[attr-defined]
        part.forward(tokens[:12])
        rows = part.forward(tokens, 4)
        assert rows.hidden is not None
        told.append((rows.logits, rows.hidden))
        part.close()
    for logits, hidden in told[1:]:
        np.testing.assert_allclose(logits, told[0][0], atol=0.02 * np.ptp(told[0][0]))
        np.testing.assert_allclose(hidden, told[0][1], atol=0.02 * np.ptp(told[0][1]))


def test_of_every_family_a_part_is_a_network_of_so_few_layers() -> None:
    """One that transformers makes of the same weights."""
    pytest.importorskip("torch")
    from predtui.llm.torch.folder import wrapped
    from tests.llm.torch.networks import FAMILIES, VOCABULARY, network_of

    tokens = random.Random(2).choices(range(2, VOCABULARY), k=40)
    for family in FAMILIES:
        network = network_of(family)
        model = wrapped(network)
        assert bool(model.abilities.layers) == (family not in LINKED), family
        if not has_layers(model):
            continue
        config = deepcopy(network.config)
        config.num_hidden_layers = 1
        if getattr(config, "layer_types", None):
            config.layer_types = config.layer_types[:1]
        small = type(network)(config).eval()
        small.load_state_dict(network.state_dict(), strict=False)
        whole, part = model.forward(tokens, 5).logits, model.part([0])
        part.forward(tokens[:33])
        np.testing.assert_allclose(part.forward(tokens, 5).logits, wrapped(small).forward(tokens, 5).logits, atol=1e-4)
        part.close()
        np.testing.assert_allclose(model.forward(tokens, 5).logits, whole, atol=1e-4)


@given(st.lists(st.integers(-2, 9), max_size=6))
def test_layers_are_some_of_those_there_are_in_their_order(layers: list[int]) -> None:
    right = bool(layers) and set(layers) <= {*range(8)} and layers == sorted(set(layers))
    if right:
        check_layers(layers, 8)
        return
    with pytest.raises(ValueError, match="of 8 layers"):
        check_layers(layers, 8)
