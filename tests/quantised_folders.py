"""Folders of quantised weights in their published layouts: those of one layer, and what the configuration says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

ROWS, COLUMNS = 64, 128
"""Of the layer: outputs and inputs."""

Layout = tuple[dict[str, Any], dict[str, tuple[str, tuple[int, ...]]]]
"""``quantization_config``; suffix of each tensor: its type and shape."""

GPTQ: Layout = (
    {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False, "sym": True, "lm_head": False},
    {
        "qweight": ("I32", (COLUMNS // 8, ROWS)),
        "qzeros": ("I32", (COLUMNS // 32, ROWS // 8)),
        "scales": ("F16", (COLUMNS // 32, ROWS)),
        "g_idx": ("I32", (COLUMNS,)),
    },
)
AWQ: Layout = (
    {"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True, "version": "gemm"},
    {
        "qweight": ("I32", (COLUMNS, ROWS // 8)),
        "qzeros": ("I32", (COLUMNS // 32, ROWS // 8)),
        "scales": ("F16", (COLUMNS // 32, ROWS)),
    },
)
NF4: Layout = (
    {"quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": False, "bnb_4bit_quant_type": "nf4"},
    {
        "weight": ("U8", (ROWS * COLUMNS // 2, 1)),
        "weight.absmax": ("F32", (ROWS * COLUMNS // 64,)),
        "weight.quant_map": ("F32", (16,)),
        "weight.quant_state.bitsandbytes__nf4": ("U8", (90,)),
    },
)
INT8: Layout = (
    {"quant_method": "bitsandbytes", "load_in_4bit": False, "load_in_8bit": True},
    {"weight": ("I8", (ROWS, COLUMNS)), "SCB": ("F32", (ROWS,)), "weight_format": ("U8", ())},
)
FP8: Layout = (
    {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [16, 16]},
    {"weight": ("F8_E4M3", (ROWS, COLUMNS)), "weight_scale_inv": ("F32", (ROWS // 16, COLUMNS // 16))},
)
FBGEMM: Layout = (
    {"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0},
    {"weight": ("F8_E4M3", (ROWS, COLUMNS)), "weight_scale": ("F32", (ROWS, 1))},
)
PACKED: Layout = (
    {
        "quant_method": "compressed-tensors",
        "format": "pack-quantized",
        "config_groups": {
            "group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 32}}
        },
    },
    {
        "weight_packed": ("I32", (ROWS, COLUMNS // 8)),
        "weight_scale": ("BF16", (ROWS, COLUMNS // 32)),
        "weight_shape": ("I64", (2,)),
    },
)
LAYOUTS = {"gptq": GPTQ, "awq": AWQ, "nf4": NF4, "int8": INT8, "fp8": FP8, "fbgemm": FBGEMM, "packed": PACKED}

_BYTES = {"I64": 8, "I32": 4, "F32": 4, "F16": 2, "BF16": 2, "I8": 1, "U8": 1, "F8_E4M3": 1}


def tensors(layout: Layout, name: str = "model.layers.0.mlp.up_proj") -> dict[str, tuple[str, tuple[int, ...]]]:
    """Those of the layer by their names."""
    return {f"{name}.{suffix}": what for suffix, what in layout[1].items()}


def size(kind: str, shape: tuple[int, ...]) -> int:
    """Bytes of a tensor."""
    return _BYTES[kind] * int(np.prod(shape))


def write(folder: Path, layout: Layout, config: dict[str, Any]) -> Path:
    """The layer and an embedding of 100 in 16 bits, with a ``config.json``."""
    held = {"model.embed_tokens.weight": ("F16", (100, COLUMNS)), **tensors(layout)}
    header, end = {}, 0
    for name, (kind, shape) in held.items():
        begin, end = end, end + size(kind, shape)
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(end))
    (folder / "config.json").write_text(json.dumps({**config, "quantization_config": layout[0]}))
    return folder
