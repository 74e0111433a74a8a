"""A Llama network in numpy behind ``LanguageModel``: it needs no compiler, and checks the engines that do.

Weights in float32, one matrix product after the other, as the architecture is written down. Must not know of files, of
text, or of how tokens are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from predtui.llm.abilities import Abilities
from predtui.llm.base import (
    Counters,
    Preempted,
    Stale,
    never,
    reusable,
)
from predtui.llm.halt import Halt
from predtui.llm.layers import check_layers
from predtui.llm.pace import Pace
from predtui.llm.rows import ArrayRows, Logits, Rows

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Shape:
    """What the weights do not say of a network. ``theta``: the base of the rotary embedding; ``epsilon``: that of the
    norms; ``context``: the most tokens it was trained on."""

    layers: int
    heads: int
    kv_heads: int
    head_width: int
    context: int
    theta: float
    epsilon: float


class NumpyLlama:
    """A Llama network of float32 weights, named as the Hugging Face hub names them."""

    def __init__(self, shape: Shape, weights: Mapping[str, Array], context: int = 0, stale: Stale = never) -> None:
        """``context`` in tokens, 0 for the network's own; ``stale`` is asked between the pieces of a long evaluation,
        and a Halt between its layers, too, which then raises Preempted. Raises KeyError for a weight that is
        missing."""
        self._shape, self._stale, self._halted = shape, stale, stale.within if isinstance(stale, Halt) else never
        self._context_size = min(context or shape.context, shape.context)
        self._embedding = weights["model.embed_tokens.weight"]
        self._output = weights.get("lm_head.weight", self._embedding).T
        self._norm = weights["model.norm.weight"]
        self._layers = [_Layer(shape, weights, f"model.layers.{number}.") for number in range(shape.layers)]
        self._turns = _rotations(self._context_size, shape.head_width, shape.theta)
        self._begin()
        self.parameters = sum(weight.size for weight in weights.values())

    def _begin(self) -> None:
        """Nothing was done, and nothing is remembered."""
        self.counters = Counters()
        cells = (len(self._layers), self._shape.kv_heads, self._context_size, self._shape.head_width)
        self._keys, self._values = np.zeros(cells, np.float32), np.zeros(cells, np.float32)
        self._memory: list[int] = []
        self._pace = Pace()
        self._telling = False

    @property
    def vocab_size(self) -> int:
        return len(self._embedding)

    @property
    def abilities(self) -> Abilities:
        hidden, layers = self._embedding.shape[1], len(self._layers)
        return replace(Abilities.of_logits(self.vocab_size), hidden=hidden, layers=layers)

    @property
    def context_size(self) -> int:
        return self._context_size

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        kept = reusable(self._memory, tokens, last, self._context_size, self.vocab_size)
        self.forget(kept)
        self.counters.forwards += 1
        states = []
        for start, end in self._pace.pieces(kept, len(tokens) - last, len(tokens)):
            if start > kept and self._stale():
                raise Preempted
            states.append(self._evaluate(tokens[start:end]))
        rows = _norm(np.concatenate(states)[-last:], self._norm, self._shape.epsilon)
        logits: Logits = rows @ self._output
        return ArrayRows(logits, rows if self._telling else None)

    def tell_hidden(self) -> None:
        """As ``HiddenModel`` says."""
        self._telling = True

    def part_bytes(self, layers: Sequence[int]) -> int:
        """As ``LayeredModel`` says: keys and values."""
        return 8 * len(layers) * self._shape.kv_heads * self._context_size * self._shape.head_width

    def part(self, layers: Sequence[int]) -> NumpyLlama:
        """As ``LayeredModel`` says."""
        check_layers(layers, len(self._layers))
        part = copy(self)
        part._layers = [self._layers[layer] for layer in layers]
        part._begin()
        return part

    def forget(self, keep: int = 0) -> None:
        del self._memory[keep:]

    def close(self) -> None:
        self._memory.clear()

    def _evaluate(self, tokens: Sequence[int]) -> Array:
        """The last layer's states [len(tokens), width] of what follows the memory, which they join."""
        start, end = len(self._memory), len(self._memory) + len(tokens)
        turns = self._turns[start:end]
        x: Array = self._embedding[list(tokens)]
        for layer, keys, values in zip(self._layers, self._keys, self._values, strict=True):
            if self._halted():
                raise Preempted
            x = x + layer.attend(x, turns, keys[:, :end], values[:, :end])
            x = x + layer.feed_forward(x)
        self._memory.extend(tokens)
        self.counters.tokens += len(tokens)
        return x


class _Layer:
    """One layer: attention over keys and values that it writes, then a gated feed-forward network."""

    def __init__(self, shape: Shape, weights: Mapping[str, Array], prefix: str) -> None:
        self._shape = shape
        self._norms = [weights[f"{prefix}{name}_layernorm.weight"] for name in ("input", "post_attention")]
        self._qkv = _joined([weights[f"{prefix}self_attn.{name}_proj.weight"] for name in "qkv"])
        self._output = weights[f"{prefix}self_attn.o_proj.weight"].T
        self._gate_up = _joined([weights[f"{prefix}mlp.{name}_proj.weight"] for name in ("gate", "up")])
        self._down = weights[f"{prefix}mlp.down_proj.weight"].T

    def attend(self, x: Array, turns: Array, keys: Array, values: Array) -> Array:
        """``keys`` and ``values`` [kv_heads, end, head_width] get those of ``x`` [n, width] as their last n."""
        shape, count, end = self._shape, len(x), keys.shape[1]
        groups = shape.heads // shape.kv_heads
        qkv = (_norm(x, self._norms[0], shape.epsilon) @ self._qkv).reshape(count, -1, shape.head_width)
        q, k, v = np.split(qkv.swapaxes(0, 1), (shape.heads, shape.heads + shape.kv_heads))
        keys[:, end - count :], values[:, end - count :] = _rotated(k, turns), v
        q = _rotated(q, turns).reshape(shape.kv_heads, groups * count, shape.head_width)
        scores: Array = (q @ keys.swapaxes(1, 2)).reshape(-1, groups, count, end)
        scores *= shape.head_width**-0.5
        scores[..., np.triu(np.ones((count, end), bool), end - count + 1)] = -np.inf
        mixed: Array = _softmax(scores).reshape(shape.kv_heads, groups * count, end) @ values
        result: Array = mixed.reshape(shape.heads, count, -1).swapaxes(0, 1).reshape(count, -1) @ self._output
        return result

    def feed_forward(self, x: Array) -> Array:
        gate, up = np.split(_norm(x, self._norms[1], self._shape.epsilon) @ self._gate_up, 2, axis=1)
        result: Array = (gate / (1 + np.exp(-gate)) * up) @ self._down
        return result


def _joined(matrices: list[Array]) -> Array:
    """[inputs, all the matrices' outputs]: one product instead of several."""
    return np.concatenate(matrices).T


def _norm(x: Array, weight: Array, epsilon: float) -> Array:
    square: Array = np.square(x).mean(axis=-1, keepdims=True)
    normed: Array = x / np.sqrt(square + np.float32(epsilon)) * weight
    return normed


def _softmax(scores: Array) -> Array:
    powers: Array = np.exp(scores - scores.max(axis=-1, keepdims=True))
    powers /= powers.sum(axis=-1, keepdims=True)
    return powers


def _rotations(positions: int, width: int, theta: float) -> Array:
    """[positions, 2, width / 2]: cosine and sine of each position's angles."""
    angles = np.outer(np.arange(positions), theta ** (-np.arange(0, width, 2) / width))
    turns: Array = np.stack((np.cos(angles), np.sin(angles)), axis=1).astype(np.float32)
    return turns


def _rotated(x: Array, turns: Array) -> Array:
    """``x`` [heads, n, width] with its first half turned against its second by each position's angles."""
    (left, right), (cosine, sine) = np.split(x, 2, axis=-1), turns.swapaxes(0, 1)
    rotated: Array = np.concatenate((left * cosine - right * sine, right * cosine + left * sine), axis=-1)
    return rotated
