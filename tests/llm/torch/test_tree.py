"""The mask of a tree, and which networks take one."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from predtui.llm.torch.tree import _tree_mask, takes_trees  # noqa: E402


@st.composite
def trees(draw: st.DrawFn) -> list[int]:
    return [draw(st.integers(-1, node - 1)) for node in range(draw(st.integers(0, 8)))]


@given(st.integers(0, 5), st.integers(1, 6), trees())
def test_a_node_sees_the_sequence_its_ancestors_and_itself(kept: int, new: int, parents: list[int]) -> None:
    length = kept + new
    seen = _tree_mask(kept, length, parents, torch.float32)[0, 0] == 0
    assert seen.shape == (new + len(parents), length + len(parents))
    for row in range(new):
        assert seen[row].nonzero().flatten().tolist() == list(range(kept + row + 1))
    for node in range(len(parents)):
        path = []
        above = node
        while above >= 0:
            path.append(length + above)
            above = parents[above]
        assert seen[new + node].nonzero().flatten().tolist() == [*range(length), *reversed(path)]


def test_a_network_whose_attention_slides_takes_no_trees() -> None:
    shape = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    for window, wanted in ((None, True), (8, False)):
        config = transformers.MistralConfig(**shape, num_key_value_heads=2, vocab_size=99, sliding_window=window)
        assert takes_trees(transformers.MistralForCausalLM(config)) == wanted
