"""A Llama's weights out of a folder: both files hold the same numbers, and what cannot be read is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from predtui.errors import PredtuiError
from predtui.llm import weights
from predtui.llm.load import load
from predtui.llm.weights import GGUF, SAFETENSORS, gguf_name, hub_name, read_weights
from predtui.models.shipped import POCKET_DRAFT, asset, place

HEADS = 4
"""Of the pocket draft."""


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_the_order_of_rows_can_be_undone(heads: int, pairs: int, columns: int) -> None:
    matrix = np.arange(heads * 2 * pairs * columns, dtype=np.float32).reshape(-1, columns)
    stored = weights.interleave(matrix, heads)
    assert np.array_equal(weights.deinterleave(stored, heads), matrix)
    assert np.array_equal(stored[:2], matrix[[0, pairs]])  # a pair that is rotated together


@pytest.mark.parametrize(
    "name",
    [*weights.OUTER_NAMES, *(f"model.layers.11.{part}.weight" for part in weights.LAYER_NAMES)],
)
def test_a_name_is_the_same_weight_in_both_files(name: str) -> None:
    assert hub_name(gguf_name(name)) == name


def test_both_files_give_the_same_numbers(tmp_path: Path) -> None:
    found = read_weights(place(POCKET_DRAFT), HEADS, HEADS)
    save_file(found, tmp_path / SAFETENSORS)
    again = read_weights(tmp_path, HEADS, HEADS)
    assert found.keys() == again.keys()
    assert all(np.array_equal(found[name], again[name]) for name in found)


def test_torch_and_numpy_compute_with_the_weights_of_the_gguf_file() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from predtui.llm.torch.folder import load_network

    network = load_network(place(POCKET_DRAFT), "cpu", torch.float32)
    state = network.state_dict()
    for name, array in read_weights(place(POCKET_DRAFT), HEADS, HEADS).items():
        assert np.array_equal(state[name].numpy(), array), name
    tokens = list(range(1, 65))
    one, other = load(POCKET_DRAFT, "numpy"), load(POCKET_DRAFT, "torch")
    np.testing.assert_allclose(one.model.forward(tokens, 64).logits, other.model.forward(tokens, 64).logits, atol=1e-3)


@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_quantised_weights_are_refused_with_what_reads_them(engine: str, tmp_path: Path) -> None:
    folder = tmp_path / "quantised"
    shutil.copytree(place(POCKET_DRAFT), folder)
    shutil.copyfile(asset("cllm", GGUF), folder / GGUF)
    with pytest.raises(PredtuiError, match="Q8_0"):
        load(str(folder), engine)


@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_a_file_cut_short_is_refused(engine: str, tmp_path: Path) -> None:
    folder = tmp_path / "short"
    shutil.copytree(place(POCKET_DRAFT), folder)
    whole = (folder / GGUF).read_bytes()
    for length in (3, 100, len(whole) - 1):
        (folder / GGUF).write_bytes(whole[:length])
        with pytest.raises(PredtuiError):
            load(str(folder), engine)
