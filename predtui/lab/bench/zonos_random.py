"""Zonos checkpoints with random weights in the published layout, of a chosen size: what computing costs needs no sense.

Must not know what is measured with them.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from predtui.errors import PredtuiError
from predtui.tts.zonos.checkpoint import WEIGHTS
from predtui.tts.zonos.config import read_config
from predtui.tts.zonos.model import ZonosModel


@dataclass(frozen=True, slots=True)
class Size:
    """Of the transformer, and of the codec's decoder: channels of its first layer; strides fit 512 samples a frame."""

    d_model: int
    layers: int
    d_ff: int
    heads: int
    kv_heads: int
    channels: int


SIZES = {
    "tiny": Size(64, 2, 128, 4, 2, 64),
    "small": Size(512, 8, 2048, 8, 2, 192),
    "medium": Size(1024, 16, 4096, 8, 2, 768),
    "published": Size(2048, 26, 8192, 16, 4, 1536),
}
"""``published``: that of Zyphra/Zonos-v0.1-transformer and descript/dac_44khz."""
GB = 2**30
SPREAD = 0.02
"""Standard deviation of the weights; those that scale stand around 1."""


def size_named(name: str) -> Size:
    """Raises PredtuiError for a size that is not known."""
    if name not in SIZES:
        raise PredtuiError(f"There is no size {name!r}.", f"Choose of {', '.join(SIZES)}.")
    return SIZES[name]


@dataclass(frozen=True, slots=True)
class Needs:
    """Bytes that a bench of random weights takes: of its files, and of memory at the most."""

    disk: int
    memory: int

    def check(self, folder: Path) -> None:
        """Raises PredtuiError where ``folder``, or a folder above it that is there, or memory have less."""
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        free = {
            f"of disk in {folder}": (self.disk, shutil.disk_usage(there).free),
            "of memory": (self.memory, psutil.virtual_memory().available),
        }
        for what, (wanted, left) in free.items():
            if wanted > left:
                raise PredtuiError(
                    f"This takes {wanted / GB:.2f} GB {what}, and {left / GB:.2f} GB are free.",
                    "Choose a smaller --size, or --keep FOLDER on another disk.",
                )


def needs(size: Size) -> Needs:
    """Found without a weight in memory. On the CPU a weight takes four bytes, and three fifths of that while it is read
    and converted; Python with torch takes half a GB (by the peaks of the smaller sizes: 0.6 GB small, 1.9 medium)."""
    model, codec = (sum(tensor.numel() for tensor in network.state_dict().values()) for network in networks(size))
    return Needs(2 * model + 4 * codec, round(1.6 * 4 * (model + codec)) + GB // 2)


def networks(size: Size) -> tuple[ZonosModel, Any]:
    """Transformer and codec without weights."""
    from transformers import DacModel

    with tempfile.TemporaryDirectory() as folder, torch.device("meta"):
        path = Path(folder, "config.json")
        path.write_text(json.dumps(config(size)), encoding="utf-8")
        return ZonosModel(read_config(path)), DacModel(codec_config(size))


def write(folder: Path, size: Size, seed: int = 0) -> tuple[Path, Path]:
    """A checkpoint and a codec inside ``folder``: the paths for ``tts.model`` and ``tts.codec``, in bfloat16 and in
    float32, as they are published."""
    checkpoint, codec = folder / "zonos", folder / "dac"
    for made in (checkpoint, codec):
        made.mkdir(parents=True, exist_ok=True)
    (checkpoint / "config.json").write_text(json.dumps(config(size), indent=1) + "\n", encoding="utf-8")
    torch.manual_seed(seed)
    codec_config(size).save_pretrained(codec)
    model, decoder = networks(size)
    save_file(drawn(model, torch.bfloat16), checkpoint / WEIGHTS)
    save_file(drawn(decoder, torch.float32), codec / WEIGHTS)
    return checkpoint, codec


def drawn(network: nn.Module, dtype: torch.dtype) -> dict[str, Tensor]:
    """A random tensor for each of the network's."""
    tensors = {
        name: torch.empty(tensor.shape, dtype=dtype).normal_(std=SPREAD)
        for name, tensor in network.state_dict().items()
    }
    for name, tensor in tensors.items():
        if ("norm" in name and name.endswith("weight")) or name.endswith("alpha"):
            tensor.add_(1)
    return tensors


def config(size: Size) -> dict[str, Any]:
    """The content of ``config.json``, with the conditioners of the published transformer."""
    fourier = {"type": "FourierConditioner", "uncond_type": "learned"}
    return {
        "backbone": {
            "d_model": size.d_model,
            "n_layer": size.layers,
            "attn_mlp_d_intermediate": size.d_ff,
            "ssm_cfg": {},
            "attn_cfg": {"num_heads": size.heads, "num_heads_kv": size.kv_heads},
            "norm_epsilon": 1e-5,
        },
        "prefix_conditioner": {
            "conditioners": [
                {"type": "EspeakPhonemeConditioner", "name": "espeak"},
                {
                    "type": "PassthroughConditioner",
                    "name": "speaker",
                    "cond_dim": 128,
                    "uncond_type": "learned",
                    "projection": "linear",
                },
                {**fourier, "name": "emotion", "input_dim": 8},
                {**fourier, "name": "fmax", "min_val": 0, "max_val": 24000},
                {**fourier, "name": "pitch_std", "min_val": 0, "max_val": 400},
                {**fourier, "name": "speaking_rate", "min_val": 0, "max_val": 40},
                {
                    "type": "IntegerConditioner",
                    "name": "language_id",
                    "min_val": -1,
                    "max_val": 126,
                    "uncond_type": "learned",
                },
            ],
            "projection": "linear",
        },
    }


def codec_config(size: Size) -> Any:
    from transformers import DacConfig

    return DacConfig(
        encoder_hidden_size=64 if size.channels == 1536 else 16,
        decoder_hidden_size=size.channels,
        downsampling_ratios=[2, 4, 8, 8],
        sampling_rate=44_100,
    )
