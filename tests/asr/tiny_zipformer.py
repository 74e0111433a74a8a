"""A streaming zipformer transducer of random weights, one layer and a handful of words, in the layout that icefall's
export publishes and sherpa-onnx reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

T, CHUNK, FEATURES, WIDTH, LEFT, KERNEL, HEADS, QUERY, VALUE, CONTEXT = 45, 32, 80, 8, 4, 5, 2, 4, 3, 2
WORDS = ["<blk>", "<sos/eos>", "<unk>", "▁THE", "▁CAT", "S", "▁SAT", "▁ON", "ING", "▁MAT"]
STATES = {
    "cached_key_0": (LEFT, 1, QUERY * HEADS),
    "cached_nonlin_attn_0": (1, 1, LEFT, 3 * WIDTH // 4),
    "cached_val1_0": (LEFT, 1, VALUE * HEADS),
    "cached_val2_0": (LEFT, 1, VALUE * HEADS),
    "cached_conv1_0": (1, WIDTH, KERNEL // 2),
    "cached_conv2_0": (1, WIDTH, KERNEL // 2),
    "embed_states": (1, 128, 3, 19),
}


def write(folder: Path, seed: int = 0, streams: bool = True, ends: str = "-epoch-99-avg-1.onnx") -> Path:
    """The folder with its four files; ``streams``: whether the encoder says that it does."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    for name, model in (
        ("encoder", _encoder(random, streams)),
        ("decoder", _decoder(random)),
        ("joiner", _joiner(random)),
    ):
        onnx.save(model, folder / f"{name}{ends}")
    lines = (f"{word} {number}" for number, word in enumerate(WORDS))
    (folder / "tokens.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def _encoder(random: np.random.Generator, streams: bool) -> onnx.ModelProto:
    """Two frames of features become one, through a matrix; what it remembers goes around."""
    weights = {
        "w": random.normal(size=(2 * FEATURES, WIDTH)).astype(np.float32) / 40,
        "from": np.array([0]),
        "to": np.array([CHUNK]),
        "axis": np.array([1]),
        "shape": np.array([1, CHUNK // 2, 2 * FEATURES]),
        "step": np.array([CHUNK // 2]),
    }
    nodes = [
        helper.make_node("Slice", ["x", "from", "to", "axis"], ["own"]),
        helper.make_node("Reshape", ["own", "shape"], ["pairs"]),
        helper.make_node("MatMul", ["pairs", "w"], ["encoder_out"]),
        *(helper.make_node("Identity", [name], [f"new_{name}"]) for name in STATES),
        helper.make_node("Add", ["processed_lens", "step"], ["new_processed_lens"]),
    ]
    states = {name: (TensorProto.FLOAT, shape) for name, shape in STATES.items()}
    states["processed_lens"] = (TensorProto.INT64, (1,))
    inputs = {"x": (TensorProto.FLOAT, (1, T, FEATURES)), **states}
    outputs = {"encoder_out": (TensorProto.FLOAT, (1, CHUNK // 2, WIDTH))}
    outputs |= {f"new_{name}": state for name, state in states.items()}
    told = {
        "model_type": "zipformer2",
        "encoder_dims": WIDTH,
        "query_head_dims": QUERY,
        "value_head_dims": VALUE,
        "num_heads": HEADS,
        "num_encoder_layers": 1,
        "cnn_module_kernels": KERNEL,
        "left_context_len": LEFT,
        "T": T,
        "decode_chunk_len": CHUNK,
    }
    return _model(nodes, inputs, outputs, weights, told if streams else {"model_type": "zipformer2"})


def _decoder(random: np.random.Generator) -> onnx.ModelProto:
    weights = {"table": random.normal(size=(len(WORDS), WIDTH)).astype(np.float32)}
    nodes = [
        helper.make_node("Gather", ["table", "y"], ["rows"]),
        helper.make_node("ReduceSum", ["rows", "axis"], ["decoder_out"], keepdims=0),
    ]
    weights["axis"] = np.array([1])
    inputs = {"y": (TensorProto.INT64, ("N", CONTEXT))}
    outputs = {"decoder_out": (TensorProto.FLOAT, ("N", WIDTH))}
    return _model(nodes, inputs, outputs, weights, {"vocab_size": len(WORDS), "context_size": CONTEXT})


def _joiner(random: np.random.Generator) -> onnx.ModelProto:
    weights = {"w": random.normal(size=(WIDTH, len(WORDS))).astype(np.float32)}
    weights["bias"] = np.array([-100.0 * (word in ("<sos/eos>", "<unk>")) for word in WORDS], np.float32)
    nodes = [
        helper.make_node("Add", ["encoder_out", "decoder_out"], ["sum"]),
        helper.make_node("Tanh", ["sum"], ["both"]),
        helper.make_node("MatMul", ["both", "w"], ["scores"]),
        helper.make_node("Add", ["scores", "bias"], ["logit"]),
    ]
    inputs = dict.fromkeys(("encoder_out", "decoder_out"), (TensorProto.FLOAT, ("N", WIDTH)))
    return _model(nodes, inputs, {"logit": (TensorProto.FLOAT, ("N", len(WORDS)))}, weights, {"joiner_dim": WIDTH})


Values = Mapping[str, tuple[int, tuple[int | str, ...]]]


def _model(
    nodes: list[onnx.NodeProto],
    inputs: Values,
    outputs: Values,
    weights: Mapping[str, np.ndarray],
    told: Mapping[str, object],
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, {name: str(value) for name, value in told.items()})
    return model
