"""Strict loading: every tensor by name and shape, or an error that names it; what cannot be run is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from predtui.errors import PredtuiError
from predtui.tts.zonos.checkpoint import find, load_model
from predtui.tts.zonos.codec import load_codec
from tests.tts.zonos import tiny_zonos

Tensors = dict[str, torch.Tensor]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return tiny_zonos.write(tmp_path / "checkpoint", tiny_zonos.VARIANTS["published"])


def load(folder: Path) -> None:
    load_model(folder, "cpu", torch.float32)


@pytest.mark.parametrize("variant", tiny_zonos.VARIANTS)
def test_every_configuration_loads_as_it_was_written(folder: Path, variant: str) -> None:
    model = load_model(folder / variant, "cpu", torch.float32)
    written = load_file(folder / variant / "model.safetensors")
    assert {name: tensor.shape for name, tensor in model.state_dict().items()} == {
        name: tensor.shape for name, tensor in written.items()
    }
    assert all(torch.equal(tensor, written[name]) for name, tensor in model.state_dict().items())


def test_the_published_names(folder: Path) -> None:
    names = set(load_file(folder / "published" / "model.safetensors"))
    layer = "backbone.layers.1"
    assert names >= {
        "embeddings.8.weight",
        "heads.0.weight",
        *(f"{layer}.{norm}.{part}" for norm in ("norm", "norm2") for part in ("weight", "bias")),
        *(f"{layer}.mixer.{part}.weight" for part in ("in_proj", "out_proj")),
        *(f"{layer}.mlp.{part}.weight" for part in ("fc1", "fc2")),
        "backbone.norm_f.weight",
        "prefix_conditioner.conditioners.0.phoneme_embedder.weight",
        "prefix_conditioner.conditioners.1.project.weight",
        "prefix_conditioner.conditioners.1.uncond_vector",
        "prefix_conditioner.conditioners.2.weight",
        "prefix_conditioner.conditioners.6.int_embedder.weight",
        "prefix_conditioner.project.bias",
        "prefix_conditioner.norm.weight",
    }


def _drop(tensors: Tensors) -> None:
    del tensors["backbone.layers.0.mlp.fc2.weight"]


def _add(tensors: Tensors) -> None:
    tensors["backbone.layers.9.mlp.fc2.weight"] = torch.zeros(1)


def _reshape(tensors: Tensors) -> None:
    tensors["heads.3.weight"] = torch.zeros(1032, 32)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_drop, r"lacks backbone\.layers\.0\.mlp\.fc2\.weight"),
        (_add, r"has backbone\.layers\.9\.mlp\.fc2\.weight, which the network"),
        (_reshape, r"heads\.3\.weight in the shape \[1032, 32\] for \[1025, 32\]"),
    ],
)
def test_a_tensor_that_does_not_fit_is_named(checkpoint: Path, change: Callable[[Tensors], None], named: str) -> None:
    tensors = load_file(checkpoint / "model.safetensors")
    change(tensors)
    save_file(tensors, checkpoint / "model.safetensors")
    with pytest.raises(PredtuiError, match=named):
        load(checkpoint)


def test_a_codec_is_loaded_as_strictly(tmp_path: Path) -> None:
    folder = tiny_zonos.write_codec(tmp_path / "codec")
    tensors = load_file(folder / "model.safetensors")
    del tensors["decoder.conv2.bias"]
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(PredtuiError, match=r"lacks decoder\.conv2\.bias"):
        load_codec(str(folder), "cpu")


def test_another_codec_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="4 codebooks"):
        load_codec(str(tiny_zonos.write_codec(tmp_path / "codec", n_codebooks=4)), "cpu")


@pytest.mark.parametrize("kept", [0, 7, 2000])
def test_a_file_cut_short_is_told(checkpoint: Path, kept: int) -> None:
    path = checkpoint / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(PredtuiError, match="damaged or cut short"):
        load(checkpoint)


def _change(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda config: config["backbone"].update(changes)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_change(ssm_cfg={"layer": "Mamba2"}), "hybrid model"),
        (_change(n_layer=0), "below 1"),
        (_change(attn_cfg={"num_heads": 5, "num_heads_kv": 1}), "do not divide"),
        (_change(attn_cfg={}), "no key 'num_heads'"),
        (lambda config: config.pop("prefix_conditioner"), "no key 'prefix_conditioner'"),
        (lambda config: config.update(eos_token_id=7), "end and mask ids"),
        (lambda config: config["prefix_conditioner"].update(projection="cubic"), "'cubic' is not one of"),
        (lambda config: config.update(backbone=3), "no configuration of Zonos"),
    ],
)
def test_a_configuration_that_cannot_be_run_is_told(
    checkpoint: Path, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    content = json.loads((checkpoint / "config.json").read_text())
    change(content)
    (checkpoint / "config.json").write_text(json.dumps(content))
    with pytest.raises(PredtuiError, match=said):
        load(checkpoint)


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="no folder nowhere/at-all"):
        find("nowhere/at-all", "config.json")
    with pytest.raises(PredtuiError, match=r"holds no config\.json"):
        find(str(tmp_path), "config.json")
    (tmp_path / "model.pt").touch()
    with pytest.raises(PredtuiError, match="only pickles"):
        find(str(tmp_path), "model.safetensors")


def test_a_name_is_looked_up_in_the_local_cache(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cached(name: str, local_files_only: bool) -> str:
        assert (name, local_files_only) == ("someone/zonos", True)
        return str(checkpoint)

    monkeypatch.setattr("huggingface_hub.snapshot_download", cached)
    assert find("someone/zonos", "config.json") == checkpoint


def test_memory_that_does_not_suffice_is_told(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Memory:
        available = 1000

    monkeypatch.setattr("predtui.tts.zonos.checkpoint.psutil.virtual_memory", Memory)
    with pytest.raises(PredtuiError, match=r"needs [\d,]+ MB of memory and 0 MB are free"):
        load(checkpoint)
