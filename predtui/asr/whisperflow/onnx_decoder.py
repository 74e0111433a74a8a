"""Whisper's decoder in ONNX Runtime, its matrices in 8 bits: what the numpy decoder computes, for large vocabularies.

Its forward over many given tokens costs little more than over one, which CTranslate2's does not offer: it decodes from
beginning to end. Must not know how tokens are searched, nor what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from predtui.asr.whisperflow.ct2_weights import Array
from predtui.asr.whisperflow.decoder import EPSILON, Cache, CrossAttention, Step, aligning_heads

_OPSET, _IR = 20, 9
_MOST = 127
"""Largest 8-bit weight; activations go to 255."""


class OnnxDecoder:
    """``Decoder`` as ``NumpyDecoder`` is one."""

    def __init__(
        self, weights: Mapping[str, Array], aligning: Sequence[tuple[int, int]] = (), threads: int = 1
    ) -> None:
        named = {name.removeprefix("decoder/"): array for name, array in weights.items()}
        self._layers = sum(name.endswith("/ffn/linear_0/weight") for name in named)
        self._heads, self._width = int(named["num_heads"]), named["embeddings/weight"].shape[1]
        self._embedding, self._positions = named["embeddings/weight"], named["position_encodings/encodings"]
        heads = aligning_heads(aligning, self._layers, self._heads)
        signed = _adds_up(threads)
        self._attending = _session(_Graph(named, self._layers, self._heads, signed).cross_attention(), threads)
        self._forwarding = _session(_Graph(named, self._layers, self._heads, signed).forward(heads), threads)
        nothing = np.zeros((1, self._heads, 0, self._width // self._heads), np.float32)
        self._nothing = Cache((nothing,) * self._layers, (nothing,) * self._layers)

    @property
    def context(self) -> int:
        return len(self._positions)

    def cross_attention(self, states: Array) -> CrossAttention:
        found = self._attending.run(None, {"states": states})
        return CrossAttention(tuple(found[: self._layers]), tuple(found[self._layers :]))

    def forward(
        self, tokens: npt.NDArray[np.int64], cross: CrossAttention, cache: Cache, last: int | None = None
    ) -> Step:
        count = tokens.shape[1]
        start, end = cache.length, cache.length + count
        if end > self.context:
            raise ValueError(f"{end} tokens do not fit into {self.context}")
        rows = count if last is None else last
        before = cache if start else self._nothing.take([0] * len(tokens))
        given = {
            "x": self._embedding[tokens] + self._positions[start:end],
            "mask": np.triu(np.full((count, end), -np.inf, np.float32), start + 1),
            "first": np.array([min(count - rows, count - 1)]),  # 8 bits are not made of nothing
        }
        for layer in range(self._layers):
            given |= {f"cross_keys_{layer}": cross.keys[layer], f"cross_values_{layer}": cross.values[layer]}
            given |= {f"past_keys_{layer}": before.keys[layer], f"past_values_{layer}": before.values[layer]}
        logits, attention, *kept = self._forwarding.run(None, given)
        new = Cache(tuple(kept[: self._layers]), tuple(kept[self._layers :]))
        return Step(logits[:, logits.shape[1] - rows :], attention, new)


class _Graph:
    """The operators of a decoder. Names of values are those of its weights."""

    def __init__(self, weights: Mapping[str, Array], layers: int, heads: int, signed: bool) -> None:
        """``signed``: how weights in 8 bits are held."""
        self._weights, self._layers, self._heads, self._signed = weights, layers, heads, signed
        self._nodes: list[Any] = []
        self._constants: dict[str, npt.NDArray[Any]] = {}
        self._names = 0

    def cross_attention(self) -> Any:
        """States [positions, d_model] to keys [heads, d_head, positions] and values [heads, positions, d_head]."""
        keys, values = [], []
        for layer in range(self._layers):
            both = self._linear(f"layer_{layer}/attention/linear_1", "states")
            key, value = self._add("Split", both, outputs=2, axis=-1, num_outputs=2)
            shape = self._constant("heads", np.array([0, self._heads, -1]))
            keys += self._add("Transpose", *self._add("Reshape", key, shape), name=f"keys_{layer}", perm=[1, 2, 0])
            values += self._add(
                "Transpose", *self._add("Reshape", value, shape), name=f"values_{layer}", perm=[1, 0, 2]
            )
        return self._model(["states"], [*keys, *values])

    def forward(self, aligning: Mapping[int, Sequence[int]]) -> Any:
        """Embedded tokens [beams, tokens, d_model] to logits from the token ``first`` on, the attention of the heads
        ``aligning`` of each layer, and all keys and values so far."""
        given = ["x", "mask", "first"]
        keys, values, attention = [], [], []
        x = "x"
        for layer in range(self._layers):
            name = f"layer_{layer}"
            given += [f"{kind}_{layer}" for kind in ("cross_keys", "cross_values", "past_keys", "past_values")]
            mixed = self._linear(f"{name}/self_attention/linear_0", self._norm(f"{name}/self_attention", x))
            query, key, value = (
                self._split(one) for one in self._add("Split", mixed, outputs=3, axis=-1, num_outputs=3)
            )
            keys += self._add("Concat", f"past_keys_{layer}", key, name=f"keys_{layer}", axis=2)
            values += self._add("Concat", f"past_values_{layer}", value, name=f"values_{layer}", axis=2)
            turned = self._one("Transpose", keys[-1], perm=[0, 1, 3, 2])
            scores = self._one("Add", self._one("MatMul", self._scaled(query), turned), "mask")
            weights = self._one("Softmax", scores, axis=-1)
            x = self._after(x, f"{name}/self_attention/linear_1", self._joined(weights, values[-1]))
            query = self._split(self._linear(f"{name}/attention/linear_0", self._norm(f"{name}/attention", x)))
            scores = self._one("MatMul", self._scaled(query), f"cross_keys_{layer}")
            weights = self._one("Softmax", scores, axis=-1)
            if layer in aligning:
                one = self._one("Gather", weights, self._constant("only", np.array(0)), axis=0)
                heads = self._constant(f"{name}/heads", np.array(aligning[layer]))
                attention.append(self._one("Gather", one, heads, axis=0))
            x = self._after(x, f"{name}/attention/linear_2", self._joined(weights, f"cross_values_{layer}"))
            hidden = self._one("Gelu", self._linear(f"{name}/ffn/linear_0", self._norm(f"{name}/ffn", x)))
            x = self._after(x, f"{name}/ffn/linear_1", hidden)
        ends = self._constant("ends", np.array([np.iinfo(np.int64).max]))
        judged = self._one("Slice", x, "first", ends, self._constant("axis", np.array([1])))
        logits = self._linear("embeddings", self._norm("", judged))
        (seen,) = self._add("Concat", *attention, name="attention", axis=0)
        return self._model(given, [logits, seen, *keys, *values])

    def _linear(self, name: str, x: str) -> str:
        """By a matrix in 8 bits, with a scale a row; what it is applied to is brought into 8 bits first."""
        matrix, bias = self._weights[f"{name}/weight"], self._weights.get(f"{name}/bias")
        scale = np.maximum(np.abs(matrix).max(1), np.float32(1e-9)) / np.float32(_MOST)
        whole = np.rint(matrix / scale[:, None]).astype(np.int16).T
        bits = whole.astype(np.int8) if self._signed else (whole + 128).astype(np.uint8)
        zero = self._constant("zero", np.array(0 if self._signed else 128, bits.dtype))
        rounded, step, offset = self._add("DynamicQuantizeLinear", x, outputs=3)
        weight = self._constant(f"{name}/weight", np.ascontiguousarray(bits))
        product = self._one("Cast", self._one("MatMulInteger", rounded, weight, offset, zero), to=TensorProto.FLOAT)
        steps = self._one("Mul", step, self._constant(f"{name}/scale", scale.astype(np.float32)))
        result = self._one("Mul", product, steps)
        return result if bias is None else self._one("Add", result, self._constant(f"{name}/bias", bias))

    def _after(self, x: str, name: str, inner: str) -> str:
        return self._one("Add", x, self._linear(name, inner))

    def _norm(self, name: str, x: str) -> str:
        name = f"{name}/layer_norm".lstrip("/")
        gamma, beta = (self._constant(f"{name}/{one}", self._weights[f"{name}/{one}"]) for one in ("gamma", "beta"))
        return self._one("LayerNormalization", x, gamma, beta, axis=-1, epsilon=EPSILON)

    def _split(self, x: str) -> str:
        """[beams, n, d_model] to [beams, heads, n, d_head]."""
        shape = self._constant("split", np.array([0, 0, self._heads, -1]))
        return self._one("Transpose", self._one("Reshape", x, shape), perm=[0, 2, 1, 3])

    def _joined(self, weights: str, values: str) -> str:
        """What heads have seen of ``values``, as [beams, n, d_model]."""
        turned = self._one("Transpose", self._one("MatMul", weights, values), perm=[0, 2, 1, 3])
        return self._one("Reshape", turned, self._constant("joined", np.array([0, 0, -1])))

    def _scaled(self, query: str) -> str:
        width = self._weights["embeddings/weight"].shape[1] // self._heads
        return self._one("Mul", query, self._constant("scaled", np.array(width**-0.5, np.float32)))

    def _constant(self, name: str, value: npt.NDArray[Any]) -> str:
        self._constants[name] = value
        return name

    def _one(self, kind: str, *inputs: str, **attributes: Any) -> str:
        (name,) = self._add(kind, *inputs, **attributes)
        return name

    def _add(self, kind: str, *inputs: str, outputs: int = 1, name: str = "", **attributes: Any) -> list[str]:
        """An operator; the names of what it gives."""
        self._names += 1
        given = [name or f"{kind}_{self._names}_{number}" for number in range(outputs)]
        self._nodes.append(helper.make_node(kind, inputs, given, **attributes))
        return given

    def _model(self, inputs: Sequence[str], outputs: Sequence[str]) -> Any:
        whole = {"first": TensorProto.INT64}
        given, found = (
            [helper.make_tensor_value_info(name, whole.get(name, TensorProto.FLOAT), None) for name in names]
            for names in (inputs, outputs)
        )
        constants = [numpy_helper.from_array(value, name) for name, value in self._constants.items()]
        graph = helper.make_graph(self._nodes, "decoder", given, found, constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)


def _session(model: Any, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _adds_up(threads: int) -> bool:
    """Whether this processor multiplies activations by weights with a sign, the faster way: without instructions of its
    own for that, it adds pairs of products in 16 bits, which overflow (ONNX Runtime's U8S8)."""
    rows, columns = 16, 64
    name = helper.make_tensor_value_info
    node = helper.make_node("MatMulInteger", ["x", "weight"], ["product"])
    weight = numpy_helper.from_array(np.full((columns, 32), _MOST, np.int8), "weight")
    given, found = name("x", TensorProto.UINT8, None), name("product", TensorProto.INT32, None)
    graph = helper.make_graph([node], "probe", [given], [found], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
    (product,) = _session(model, threads).run(None, {"x": np.full((rows, columns), 255, np.uint8)})
    return bool((product == 255 * _MOST * columns).all())
