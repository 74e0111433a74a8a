"""What a network in a folder takes, by its configuration and the headers of its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from predtui.errors import PredtuiError
from predtui.llm.sizes.network import Network
from predtui.llm.sizes.of_folder import network_of, stored

USUAL = {"model_type": "x", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 100,
         "max_position_embeddings": 4096, "intermediate_size": 128}  # fmt: skip


def network(folder: Path, shapes: dict[str, tuple[int, ...]] | None = None, **config: Any) -> Network:
    (folder / "config.json").write_text(json.dumps({**USUAL, **config}))
    shapes = shapes or {"model.embed_tokens.weight": (100, 64), "lm_head.weight": (100, 64)}
    save_file({name: np.zeros(shape, np.float16) for name, shape in shapes.items()}, folder / "model.safetensors")
    return network_of(folder, 4)


def test_heads_of_their_own_number_and_width_count(tmp_path: Path) -> None:
    assert network(tmp_path).layers[0].keys == 64
    grouped = network(tmp_path, num_key_value_heads=2, head_dim=32)
    assert {(layer.keys, layer.values) for layer in grouped.layers} == {(64, 64)}
    assert grouped.cache(100, "f32") == 4 * 100 * 128 * 4


def test_the_language_model_of_a_composite_configuration_is_meant(tmp_path: Path) -> None:
    seen = network(tmp_path, num_hidden_layers=99, text_config={"num_hidden_layers": 2})
    assert len(seen.layers) == 2


def test_windows_are_kept_no_longer_than_they_are(tmp_path: Path) -> None:
    kinds = ["sliding_attention", "full_attention"] * 2
    mixed = network(tmp_path, layer_types=kinds, sliding_window=512)
    assert [layer.window for layer in mixed.layers] == [512, 0, 512, 0]
    assert mixed.cache(4096, "f16", beyond=0) == (2 * 4096 + 2 * 512) * 128 * 2
    assert all(layer.window == 512 for layer in network(tmp_path, sliding_window=512).layers)
    assert not any(layer.window for layer in network(tmp_path, sliding_window=512, use_sliding_window=False).layers)


def test_latent_attention_is_kept_unpacked_and_layers_without_attention_by_their_state(tmp_path: Path) -> None:
    latent = network(tmp_path, kv_lora_rank=512, qk_nope_head_dim=16, qk_rope_head_dim=8, v_head_dim=12)
    assert (latent.layers[0].keys, latent.layers[0].values) == (4 * 24, 4 * 12)
    kinds = ["linear_attention"] * 3 + ["full_attention"]
    hybrid = network(tmp_path, layer_types=kinds, linear_key_head_dim=8, linear_value_head_dim=8,
                     linear_num_value_heads=4, linear_num_key_heads=2, linear_conv_kernel_dim=4)  # fmt: skip
    assert [bool(layer.keys) for layer in hybrid.layers] == [False] * 3 + [True]
    assert hybrid.layers[0].state == 4 * 64 + 4 * (32 + 32)


def test_weights_are_counted_where_they_are(tmp_path: Path) -> None:
    shapes = {"model.embed_tokens.weight": (100, 64), "model.norm.weight": (64,)}
    shapes |= {f"model.layers.{n}.mlp.experts.{e}.up.weight": (8, 64) for n in range(4) for e in range(4)}
    shapes |= {f"model.layers.{n}.attn.weight": (64, 64) for n in range(4)}
    mixed = network(tmp_path, shapes, tie_word_embeddings=True, num_experts=4, num_experts_per_tok=1)
    assert mixed.parameters == 6400 + 64 + 4 * (4 * 512 + 4096)
    assert mixed.weights == 4 * mixed.parameters
    assert mixed.reads(0) == [4 * (4096 + 512)] * 4 + [4 * (6400 + 64)]


def test_what_is_missing_or_damaged_is_named(tmp_path: Path) -> None:
    network(tmp_path)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}))
    with pytest.raises(PredtuiError, match=r"lacks model-2\.safetensors"):
        stored(tmp_path)
    index.write_text("[]")
    with pytest.raises(PredtuiError, match=r"index\.json is damaged"):
        stored(tmp_path)
    index.unlink()
    whole = (tmp_path / "model.safetensors").read_bytes()
    for cut in (0, 7, 8, 60, len(whole) - 1):
        (tmp_path / "model.safetensors").write_bytes(whole[:cut])
        with pytest.raises(PredtuiError, match=r"model\.safetensors is damaged or cut short"):
            stored(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(whole)
    for text in ("[]", "{", '"x"'):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(PredtuiError, match=r"config\.json is damaged"):
            network_of(tmp_path, 4)
    (tmp_path / "config.json").unlink()
    with pytest.raises(PredtuiError, match=r"holds no config\.json"):
        network_of(tmp_path, 4)
