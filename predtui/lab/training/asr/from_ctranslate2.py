"""A Whisper in CTranslate2 form as torch weights, for what needs its gradients. Must not know of training."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from predtui.asr.whisperflow import ct2_weights
from predtui.asr.whisperflow.ct2_weights import Array
from predtui.lab.training.asr.config import Shape
from predtui.lab.training.asr.model import Whisper

_PLAIN = {
    "ffn/layer_norm/gamma": "final_layer_norm.weight",
    "ffn/layer_norm/beta": "final_layer_norm.bias",
    "ffn/linear_0/weight": "fc1.weight",
    "ffn/linear_0/bias": "fc1.bias",
    "ffn/linear_1/weight": "fc2.weight",
    "ffn/linear_1/bias": "fc2.bias",
    "self_attention/layer_norm/gamma": "self_attn_layer_norm.weight",
    "self_attention/layer_norm/beta": "self_attn_layer_norm.bias",
    "attention/layer_norm/gamma": "encoder_attn_layer_norm.weight",
    "attention/layer_norm/beta": "encoder_attn_layer_norm.bias",
}
_FUSED = {
    "self_attention/linear_0": ("self_attn", ("q_proj", "k_proj", "v_proj")),
    "self_attention/linear_1": ("self_attn", ("out_proj",)),
    "attention/linear_0": ("encoder_attn", ("q_proj",)),
    "attention/linear_1": ("encoder_attn", ("k_proj", "v_proj")),
    "attention/linear_2": ("encoder_attn", ("out_proj",)),
}
"""Matrices that CTranslate2 keeps in one, and whose they are."""
_AROUND = {
    "conv1/weight": "conv1.weight",
    "conv1/bias": "conv1.bias",
    "conv2/weight": "conv2.weight",
    "conv2/bias": "conv2.bias",
    "position_encodings/encodings": "embed_positions.weight",
    "embeddings/weight": "embed_tokens.weight",
    "layer_norm/gamma": "layer_norm.weight",
    "layer_norm/beta": "layer_norm.bias",
}


def load(folder: Path) -> Whisper:
    """The model of the CTranslate2 folder ``folder``, frozen, in float32. Raises PredtuiError where there is none,
    KeyError or RuntimeError where it is no Whisper."""
    weights = ct2_weights.read(folder)
    model = Whisper(_shape(weights))
    named = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in _renamed(weights)}
    model.load_state_dict(named)
    return model.eval().requires_grad_(False)


def _shape(weights: dict[str, Array]) -> Shape:
    width, mels, _ = weights["encoder/conv1/weight"].shape
    return Shape(
        d_model=width,
        encoder_layers=_layers(weights, "encoder"),
        decoder_layers=_layers(weights, "decoder"),
        heads=int(weights["encoder/num_heads"]),
        ffn=len(weights["encoder/layer_0/ffn/linear_0/weight"]),
        vocab=len(weights["decoder/embeddings/weight"]),
        mels=mels,
        source_positions=len(weights["encoder/position_encodings/encodings"]),
        target_positions=len(weights["decoder/position_encodings/encodings"]),
    )


def _layers(weights: dict[str, Array], side: str) -> int:
    return sum(name.startswith(f"{side}/") and name.endswith("/ffn/linear_0/weight") for name in weights)


def _renamed(weights: dict[str, Array]) -> Iterator[tuple[str, Array]]:
    """Under the names of ``Whisper``; what is no weight of a layer is left out."""
    for name, array in weights.items():
        side, _, rest = name.partition("/")
        if rest in _AROUND:
            yield f"model.{side}.{_AROUND[rest]}", array
        elif rest.startswith("layer_"):
            layer, _, part = rest.partition("/")
            own = f"model.{side}.layers.{layer.removeprefix('layer_')}"
            yield from ((f"{own}.{inner}", one) for inner, one in _of_layer(part, array))


def _of_layer(part: str, array: Array) -> Iterator[tuple[str, Array]]:
    if part in _PLAIN:
        yield _PLAIN[part], array
        return
    fused, _, kind = part.rpartition("/")
    attention, projections = _FUSED[fused]
    for projection, one in zip(projections, np.split(array, len(projections)), strict=True):
        if (kind, projection) != ("bias", "k_proj"):  # keys have none; CTranslate2 stores zeros
            yield f"{attention}.{projection}.{kind}", one
