"""What quantised folders take: the bytes that they are stored in, or those of plain numbers where they are unpacked."""

from __future__ import annotations

from pathlib import Path

import pytest

from predtui.llm.sizes.of_folder import network_of
from predtui.llm.sizes.quantised import quantised
from tests.quantised_folders import COLUMNS, LAYOUTS, ROWS, size, tensors, write

CONFIG = {"model_type": "llama", "num_hidden_layers": 1, "hidden_size": COLUMNS, "num_attention_heads": 4,
          "vocab_size": 100, "max_position_embeddings": 512, "intermediate_size": ROWS}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_weights_are_counted_as_numbers_and_as_the_bytes_that_they_take(name: str, tmp_path: Path) -> None:
    layout = LAYOUTS[name]
    network = network_of(write(tmp_path, layout, CONFIG), 4)
    assert network.parameters == 100 * COLUMNS + ROWS * COLUMNS
    kept = sum(size(*one) for one in tensors(layout).values()), 2 * 100 * COLUMNS
    unpacked = 4 * ROWS * COLUMNS, 4 * 100 * COLUMNS
    wanted = unpacked if name in ("fp8", "packed") else kept
    assert (network.layers[0].weights, network.inputs) == wanted


def test_methods_and_bits_are_found_where_they_stand() -> None:
    assert quantised({}) is None
    assert quantised({"quantization_config": "gptq"}) is None
    for settings, method, bits in (
        ({"quant_method": "mxfp4"}, "mxfp4", 4),
        ({"load_in_4bit": True}, "bitsandbytes", 4),
        ({"quant_method": "gptq", "bits": 3}, "gptq", 3),
        ({"quant_method": "awq", "w_bit": 4}, "awq", 4),
        ({"quant_method": "gptq", "bits": 0}, "gptq", 8),
        ({"quant_method": "compressed-tensors", "config_groups": {"g": None}}, "compressed-tensors", 8),
    ):
        found = quantised({"quantization_config": settings})
        assert found is not None
        assert (found.method, found.bits) == (method, bits)
