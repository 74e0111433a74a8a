"""Quantised folders: loaded where that can be done here, else a line names what is missing before a weight is read."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from predtui.errors import PredtuiError
from predtui.llm.load import load
from tests import tiny_folder
from tests.llm.torch.networks import FAMILIES, SHAPE
from tests.quantised_folders import LAYOUTS, Layout, write

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file  # noqa: E402

BLOCK = 16


def configure(folder: Path, settings: dict[str, Any]) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "quantization_config": settings}))


def rows(folder: Path) -> Any:
    loaded = load(str(folder), "torch", threads=1)
    asked = random.Random(0).choices(range(90), k=20)
    return loaded.model.forward(asked, 4).logits


@pytest.mark.parametrize(
    ("layout", "why"),
    [
        ("gptq", r"package that is not there: .*optimum"),
        ("awq", r"package that is not there: .*gptqmodel"),
        ("nf4", r"package that is not there: .*bitsandbytes"),
        ("int8", r"package that is not there: .*bitsandbytes"),
        ("packed", r"package that is not there: .*compressed-tensors"),
        ("fbgemm", r"needs a GPU"),
        ("hqq", r"package that is not there: .*(hqq|HQQ)"),
        ("nonesuch", r"cannot be loaded by transformers: .*nonesuch"),
    ],
)
def test_what_is_missing_is_named_before_a_weight_is_read(
    layout: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others: dict[str, Layout] = {
        "hqq": ({"quant_method": "hqq", "quant_config": {}}, {}),
        "nonesuch": ({"quant_method": "nonesuch"}, {}),
    }
    config = transformers.LlamaConfig(**SHAPE, architectures=["LlamaForCausalLM"]).to_dict()
    folder = write(tmp_path, {**LAYOUTS, **others}[layout], config)
    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", None)
    with pytest.raises(PredtuiError, match=why) as refused:
        load(str(folder), "torch")
    assert "safetensors" in str(refused.value.remedy)
    assert "\n" not in str(refused.value)


def test_a_gpu_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformers.quantizers.quantizer_gptq.is_optimum_available", lambda: True)
    monkeypatch.setattr("transformers.quantizers.quantizer_gptq.GptqHfQuantizer.__init__", lambda *_, **__: None)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    folder = write(tmp_path, LAYOUTS["gptq"], transformers.LlamaConfig(**SHAPE).to_dict())
    with pytest.raises(PredtuiError, match=r"is quantised \(gptq\) and needs a GPU: GPU is required") as refused:
        load(str(folder), "torch")
    assert "machine with one" in str(refused.value.remedy)


def test_fp8_is_unpacked_and_computes_what_its_numbers_say(tmp_path: Path) -> None:
    plain, packed = (tiny_folder.write(tmp_path / name) for name in ("plain", "fp8"))
    weights = load_file(packed / "model.safetensors")
    stored, unpacked = {}, {}
    for name, weight in weights.items():
        if not name.endswith("_proj.weight"):
            stored[name] = unpacked[name] = weight
            continue
        height, width = (side // BLOCK for side in weight.shape)
        scale = torch.rand(height, width) + 0.01
        wide = scale.repeat_interleave(BLOCK, 0).repeat_interleave(BLOCK, 1)
        stored[name] = (weight / wide).to(torch.float8_e4m3fn)
        stored[f"{name}_scale_inv"] = scale
        unpacked[name] = stored[name].float() * wide
    save_file(stored, packed / "model.safetensors", {"format": "pt"})
    save_file(unpacked, plain / "model.safetensors", {"format": "pt"})
    configure(packed, LAYOUTS["fp8"][0])
    np.testing.assert_allclose(rows(packed), rows(plain), atol=1e-4)
    loaded = load(str(packed), "torch", threads=1)
    assert loaded.device == "cpu, fp8"
    assert loaded.parameters == load(str(plain), "torch", threads=1).parameters


def test_mxfp4_experts_are_unpacked_and_compute_what_their_numbers_say(tmp_path: Path) -> None:
    plain, packed = (tiny_folder.write(tmp_path / name) for name in ("plain", "mxfp4"))
    torch.manual_seed(0)
    shape = {**SHAPE, **FAMILIES["GptOss"], "intermediate_size": 32, "vocab_size": 264}
    network = transformers.GptOssForCausalLM(transformers.GptOssConfig(**shape))
    for folder in (plain, packed):
        network.save_pretrained(folder)
    weights = load_file(packed / "model.safetensors")
    values = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    values = torch.cat([values, -values])
    stored, unpacked = dict(weights), dict(weights)
    for name, weight in weights.items():
        if not name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            continue
        experts, inputs, outputs = weight.shape
        blocks = torch.randint(0, 256, (experts, outputs, inputs // 32, 16), dtype=torch.uint8)
        scales = torch.randint(122, 126, (experts, outputs, inputs // 32), dtype=torch.uint8)
        pairs = torch.stack([values[(blocks & 15).long()], values[(blocks >> 4).long()]], -1).flatten(-2)
        numbers = pairs * 2.0 ** (scales.float() - 127)[..., None]
        unpacked[name] = numbers.flatten(-2).transpose(1, 2).contiguous()
        del stored[name]
        stored |= {f"{name}_blocks": blocks, f"{name}_scales": scales}
    save_file(stored, packed / "model.safetensors", {"format": "pt"})
    save_file(unpacked, plain / "model.safetensors", {"format": "pt"})
    configure(packed, {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]})
    np.testing.assert_allclose(rows(packed), rows(plain), atol=2e-2)
    counted = [load(str(folder), "torch", threads=1).parameters for folder in (packed, plain)]
    assert counted[0] == counted[1]
