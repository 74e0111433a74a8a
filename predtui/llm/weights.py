"""The weights of a Llama network in a folder, in float32 and under the Hugging Face hub's names: read from
``model.safetensors``, or where there is none from ``model.gguf``, unless that is quantised.

Needs neither torch nor transformers. Must not know of networks or of tokenizers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from predtui.errors import PredtuiError
from predtui.files import parse_json
from predtui.llm.gguf import GgufTensor, read_header
from predtui.models.published import SMOLLM2

Array = npt.NDArray[np.float32]

GGUF, SAFETENSORS = "model.gguf", "model.safetensors"
LAYER_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""Parts of a layer: the hub's name to llama.cpp's."""
OUTER_NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
"""Weights outside the layers: the hub's name to llama.cpp's."""
_FORMATS = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_QUERIES, _KEYS = "self_attn.q_proj.weight", "self_attn.k_proj.weight"


def no_gguf(model: str) -> None:
    """Raises PredtuiError for a model that the numpy engine does not read."""
    if model == SMOLLM2.name:
        raise PredtuiError(
            f"{model} is a GGUF file, which the numpy engine does not read.", "Choose --engine llamacpp."
        )


def weights_file(folder: Path) -> Path:
    """The file in ``folder`` that ``read_weights`` reads, which need not exist."""
    return next((path for path in (folder / SAFETENSORS, folder / GGUF) if path.is_file()), folder / SAFETENSORS)


def read_weights(folder: Path, heads: int, kv_heads: int) -> dict[str, Array]:
    """Every weight by name, ``[rows, columns]`` or ``[width]``. ``heads`` and ``kv_heads``: how many the attention has
    for queries and for keys, whose rows a GGUF file orders in its own way.

    Raises PredtuiError for a GGUF file that is damaged, quantised or of another architecture; OSError, ValueError or
    KeyError for a safetensors file that is missing or damaged.
    """
    path = weights_file(folder)
    return dict(_of_safetensors(path)) if path.name == SAFETENSORS else dict(_of_gguf(path, heads, kv_heads))


def gguf_name(name: str) -> str:
    """llama.cpp's name of a weight. Raises KeyError for one that Llama does not have."""
    if name in OUTER_NAMES:
        return OUTER_NAMES[name]
    _, _, layer, part = name.split(".", 3)
    return f"blk.{layer}.{LAYER_NAMES[part.removesuffix('.weight')]}.weight"


def hub_name(name: str) -> str:
    """The hub's name of a weight in a GGUF file. Raises KeyError for one that Llama does not have."""
    outer = {theirs: ours for ours, theirs in OUTER_NAMES.items()}
    if name in outer:
        return outer[name]
    layers = {theirs: ours for ours, theirs in LAYER_NAMES.items()}
    kind, _, rest = name.partition(".")
    layer, _, part = rest.partition(".")
    if kind != "blk":
        raise KeyError(name)
    return f"model.layers.{layer}.{layers[part.removesuffix('.weight')]}.weight"


def interleave(weight: Array, heads: int) -> Array:
    """Rows of a query or key projection in llama.cpp's order: it rotates neighbours, transformers rotates halves."""
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def deinterleave(weight: Array, heads: int) -> Array:
    """The inverse of ``interleave``."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def _of_gguf(path: Path, heads: int, kv_heads: int) -> Iterator[tuple[str, Array]]:
    data = memoryview(path.read_bytes())
    for theirs, tensor in read_header(path).tensors.items():
        try:
            name = hub_name(theirs)
            array = _decoded(data, tensor)
        except KeyError as unknown:
            raise PredtuiError(
                f"{path}: the weight {theirs} is {tensor.type}, or none of a Llama network ({unknown}).",
                "Choose --engine llamacpp, which reads any GGUF file.",
            ) from None
        if name.endswith((_QUERIES, _KEYS)):
            array = deinterleave(array, heads if name.endswith(_QUERIES) else kv_heads)
        yield name, array


def _decoded(data: memoryview, tensor: GgufTensor) -> Array:
    """Raises KeyError for a quantised one. GGUF gives the length of a row first."""
    raw = np.frombuffer(data[tensor.begin : tensor.end], _FORMATS[tensor.type])
    return _widened(raw, tensor.type).reshape(tensor.shape[::-1])


def _of_safetensors(path: Path) -> Iterator[tuple[str, Array]]:
    """The length of a header in JSON, the header, the data."""
    data = memoryview(path.read_bytes())
    start = 8 + int.from_bytes(data[:8], "little")
    header: dict[str, Any] = parse_json(bytes(data[8:start]))
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = (start + offset for offset in entry["data_offsets"])
        raw = np.frombuffer(data[begin:end], _FORMATS[entry["dtype"]])
        yield name, _widened(raw, entry["dtype"]).reshape(entry["shape"])


def _widened(raw: npt.NDArray[Any], form: str) -> Array:
    """bfloat16 is the upper half of a float32."""
    return (raw.astype(np.uint32) << 16).view(np.float32) if form == "BF16" else raw.astype(np.float32)
