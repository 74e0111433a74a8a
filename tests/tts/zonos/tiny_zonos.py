"""Writes random-weight Zonos checkpoints and codecs in the published layout: the names of a real one, not its sense."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from predtui.tts.zonos.codec import Codec, load_codec
from predtui.tts.zonos.config import EOS, read_config
from predtui.tts.zonos.model import ZonosModel
from predtui.tts.zonos.sampling import SamplingOptions
from predtui.tts.zonos.synthesizer import Manner, ZonosSynthesizer


@dataclass(frozen=True)
class Variant:
    """``projection`` of each conditioner and of the whole; ``learned``: whether values may be missing."""

    projection: str
    learned: bool
    heads: int = 4
    kv_heads: int = 2
    layers: int = 2


VARIANTS = {
    "published": Variant("linear", learned=True),
    "bare": Variant("none", learned=False, kv_heads=4, layers=1),
    "mlp": Variant("mlp", learned=True, kv_heads=1, layers=3),
}
D_MODEL = 32
SPEAKER = 128


def config(variant: Variant) -> dict[str, Any]:
    learned = {"uncond_type": "learned"} if variant.learned else {}
    projection = {"projection": variant.projection}
    fourier = {"type": "FourierConditioner", **learned, **projection}
    speaker = {"type": "PassthroughConditioner", "name": "speaker", "cond_dim": SPEAKER, "projection": "linear"}
    return {
        "backbone": {
            "d_model": D_MODEL,
            "n_layer": variant.layers,
            "d_intermediate": 0,
            "attn_mlp_d_intermediate": 48,
            "ssm_cfg": {},
            "attn_layer_idx": list(range(variant.layers)),
            "attn_cfg": {"causal": True, "num_heads": variant.heads, "num_heads_kv": variant.kv_heads},
            "norm_epsilon": 1e-5,
        },
        "prefix_conditioner": {
            "conditioners": [
                {"type": "EspeakPhonemeConditioner", "name": "espeak"},
                *([speaker | learned] if variant.learned else []),
                {**fourier, "name": "emotion", "input_dim": 8},
                {**fourier, "name": "fmax", "min_val": 0, "max_val": 24000},
                {**fourier, "name": "pitch_std", "min_val": 0, "max_val": 400},
                {**fourier, "name": "speaking_rate", "min_val": 0, "max_val": 40},
                {"type": "IntegerConditioner", "name": "language_id", "min_val": -1, "max_val": 126, **learned},
            ],
            "projection": variant.projection,
        },
        "eos_token_id": 1024,
        "masked_token_id": 1025,
        "pad_vocab_to_multiple_of": 8,
        "of_no_interest": True,
    }


def write(folder: Path, variant: Variant, seed: int = 0, ending: float = 1.5) -> Path:
    """A checkpoint; ``ending``: how much the chance of EOS varies from column to column."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config(variant)))
    torch.manual_seed(seed)
    model = ZonosModel(read_config(folder / "config.json"))
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            tensor.copy_(torch.randn_like(tensor) * (0.5 if tensor.ndim == 1 else tensor.shape[-1] ** -0.5))
            if "norm" in name and name.endswith("weight"):
                tensor.abs_()
        model.heads[0].weight[EOS] *= ending
    save_file({name: tensor.contiguous() for name, tensor in model.state_dict().items()}, folder / "model.safetensors")
    return folder


def write_codec(folder: Path, seed: int = 0, **changes: Any) -> Path:
    """A DAC of 16 samples a frame whose sound is loud enough to hear a wrong frame in."""
    from transformers import DacConfig, DacModel

    torch.manual_seed(seed)
    sizes: dict[str, Any] = {
        "encoder_hidden_size": 2,
        "decoder_hidden_size": 16,
        "downsampling_ratios": [2, 2, 4],
        "codebook_dim": 2,
        "sampling_rate": 1600,
    }
    network = DacModel(DacConfig(**(sizes | changes)))
    with torch.no_grad():
        for tensor in network.decoder.parameters():
            tensor.copy_(torch.randn_like(tensor) * (0.3 if tensor.ndim == 1 else 0.4 * tensor[0].numel() ** -0.5))
        for quantizer in network.quantizer.quantizers:
            quantizer.codebook.weight.normal_()
            quantizer.out_proj.weight.normal_()
    network.save_pretrained(folder)
    return folder


def codec(folder: Path, dtype: torch.dtype = torch.float64) -> Codec:
    return load_codec(str(folder), "cpu", dtype)


def synthesizer(model: ZonosModel, codec: Codec, chunk: int = 3, seed: int = 0, **manner: Any) -> ZonosSynthesizer:
    return ZonosSynthesizer(model, codec, Manner(chunk=chunk, **manner), SamplingOptions(seed=seed))
