"""Whisper's decoder in numpy: tokens in, logits and cross-attention out, over encoder states computed elsewhere.

CTranslate2 decodes from beginning to end or not at all. Beam pruning changes the width of the search from step to
step, and verification needs the logits of many given tokens at once, so the decoder's forward is here. Must not know
how tokens are searched, nor what they mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from predtui.asr.whisperflow.ct2_weights import Array

EPSILON = 1e-5
_NO_LOGITS: Array = np.zeros((1, 0, 0), np.float32)


@dataclass(frozen=True, slots=True)
class CrossAttention:
    """Keys [heads, d_head, positions] and values [heads, positions, d_head] of the encoder's states, a layer each."""

    keys: tuple[Array, ...]
    values: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Cache:
    """Keys and values [beams, heads, length, d_head] of the tokens so far, a layer each; empty before the first."""

    keys: tuple[Array, ...] = ()
    values: tuple[Array, ...] = ()

    @property
    def length(self) -> int:
        return self.keys[0].shape[2] if self.keys else 0

    def take(self, beams: Sequence[int]) -> Cache:
        """The cache of the hypotheses ``beams``, in that order; one may come several times."""
        index = np.asarray(beams)
        return Cache(tuple(one[index] for one in self.keys), tuple(one[index] for one in self.values))

    def cut(self, length: int) -> Cache:
        """The cache of the first ``length`` tokens."""
        return Cache(tuple(one[:, :, :length] for one in self.keys), tuple(one[:, :, :length] for one in self.values))


@dataclass(frozen=True, slots=True)
class Step:
    """What one forward gives: ``logits`` [beams, tokens, vocab], ``attention`` [alignment heads, tokens, positions] of
    the first hypothesis, and the cache with the new tokens in it."""

    logits: Array
    attention: Array
    cache: Cache


class Decoder(Protocol):
    """A decoder, whatever computes it. ``tokens`` are [beams, tokens]."""

    @property
    def context(self) -> int:
        """How many tokens fit."""
        ...

    def cross_attention(self, states: Array) -> CrossAttention:
        """The encoder's ``states`` [positions, d_model] as every layer will attend to them."""
        ...

    def forward(
        self, tokens: npt.NDArray[np.int64], cross: CrossAttention, cache: Cache, last: int | None = None
    ) -> Step:
        """One forward of ``tokens`` after those in ``cache``; logits of the ``last`` ones, or of all: those of a large
        vocabulary cost more than the layers. Raises ValueError beyond ``context``."""
        ...


class NumpyDecoder:
    """The decoder of the CTranslate2 variables ``weights`` (those under "decoder/"). ``aligning``: layers and heads
    whose cross-attention follows the sound; without them all of the later half."""

    def __init__(
        self,
        weights: dict[str, Array],
        aligning: Sequence[tuple[int, int]] = (),
    ) -> None:
        self._weights = {name.removeprefix("decoder/"): array for name, array in weights.items()}
        self._heads = int(self._weights["num_heads"])
        self._layers = sum(name.endswith("/ffn/linear_0/weight") for name in self._weights)
        self._embedding = self._weights["embeddings/weight"]
        self._positions = self._weights["position_encodings/encodings"]
        self._aligning = aligning_heads(aligning, self._layers, self._heads)

    @property
    def context(self) -> int:
        return len(self._positions)

    def cross_attention(self, states: Array) -> CrossAttention:
        keys, values = [], []
        for layer in range(self._layers):
            key, value = np.split(self._linear(f"layer_{layer}/attention/linear_1", states), 2, axis=-1)
            keys.append(np.ascontiguousarray(self._split(key[None])[0].swapaxes(1, 2)))
            values.append(np.ascontiguousarray(self._split(value[None])[0]))
        return CrossAttention(tuple(keys), tuple(values))

    def forward(
        self, tokens: npt.NDArray[np.int64], cross: CrossAttention, cache: Cache, last: int | None = None
    ) -> Step:
        start, end = cache.length, cache.length + tokens.shape[1]
        if end > self.context:
            raise ValueError(f"{end} tokens do not fit into {self.context}")
        x = self._embedding[tokens] + self._positions[start:end]
        mask = np.triu(np.full((tokens.shape[1], end), -np.inf, np.float32), start + 1)
        keys, values, attention = [], [], []
        for layer in range(self._layers):
            name = f"layer_{layer}"
            query, key, value = (
                self._split(one)
                for one in np.split(
                    self._linear(f"{name}/self_attention/linear_0", self._norm(f"{name}/self_attention", x)), 3, -1
                )
            )
            if start:
                key = np.concatenate([cache.keys[layer], key], axis=2)
                value = np.concatenate([cache.values[layer], value], axis=2)
            keys.append(key)
            values.append(value)
            weights = softmax(self._scaled(query) @ key.swapaxes(2, 3) + mask)
            x = x + self._linear(f"{name}/self_attention/linear_1", _joined(weights @ value))
            query = self._split(self._linear(f"{name}/attention/linear_0", self._norm(f"{name}/attention", x)))
            weights = softmax(self._scaled(query) @ cross.keys[layer])
            attention += [weights[0, head] for head in self._aligning.get(layer, ())]
            x = x + self._linear(f"{name}/attention/linear_2", _joined(weights @ cross.values[layer]))
            hidden = gelu(self._linear(f"{name}/ffn/linear_0", self._norm(f"{name}/ffn", x)))
            x = x + self._linear(f"{name}/ffn/linear_1", hidden)
        judged = x[:, 0 if last is None else x.shape[1] - last :]
        logits = _times(self._embedding, self._norm("", judged)) if judged.size else _NO_LOGITS
        return Step(logits, np.stack(attention), Cache(tuple(keys), tuple(values)))

    def _linear(self, name: str, x: Array) -> Array:
        result = _times(self._weights[f"{name}/weight"], x)
        bias = self._weights.get(f"{name}/bias")
        return result if bias is None else result + bias

    def _norm(self, name: str, x: Array) -> Array:
        name = f"{name}/layer_norm".lstrip("/")
        centred = x - x.mean(-1, keepdims=True)
        scale = np.sqrt(np.square(centred).mean(-1, keepdims=True) + np.float32(EPSILON))
        result: Array = centred / scale * self._weights[f"{name}/gamma"] + self._weights[f"{name}/beta"]
        return result

    def _split(self, x: Array) -> Array:
        """[beams, n, d_model] to [beams, heads, n, d_head]."""
        return x.reshape(*x.shape[:2], self._heads, -1).swapaxes(1, 2)

    def _scaled(self, query: Array) -> Array:
        return query * np.float32(query.shape[-1] ** -0.5)


def aligning_heads(pairs: Sequence[tuple[int, int]], layers: int, heads: int) -> dict[int, list[int]]:
    """By layer, the heads of ``pairs`` of layer and head, or, without any, all of the later half of the layers."""
    pairs = pairs or [(layer, head) for layer in range(layers // 2, layers) for head in range(heads)]
    return {layer: [head for other, head in pairs if other == layer] for layer in sorted({layer for layer, _ in pairs})}


def _times(matrix: Array, x: Array) -> Array:
    """``x`` [.., columns] by the transposed ``matrix`` [rows, columns]. All rows at once and the matrix first, which
    reads it once: three times as fast for five hypotheses as a product for each."""
    product: Array = (matrix @ x.reshape(-1, x.shape[-1]).T).T
    return product.reshape(*x.shape[:-1], len(matrix))


def softmax(x: Array) -> Array:
    """Along the last axis."""
    weights = np.exp(x - x.max(-1, keepdims=True))
    result: Array = weights / weights.sum(-1, keepdims=True)
    return result


def log_softmax(x: Array) -> Array:
    """Along the last axis."""
    shifted = x - x.max(-1, keepdims=True)
    result: Array = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return result


def gelu(x: Array) -> Array:
    """x Phi(x), with the error function of Abramowitz and Stegun's formula 7.1.26 (error below 1.5e-7)."""
    z = np.abs(x) * np.float32(0.5**0.5)
    t = 1.0 / (1.0 + np.float32(0.3275911) * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * np.float32(1.061405429)))))
    half = np.float32(0.5) * poly * np.exp(-z * z)
    result: Array = x * np.where(x >= 0, 1.0 - half, half)
    return result


def _joined(x: Array) -> Array:
    """[beams, heads, n, d_head] to [beams, n, d_model]."""
    result: Array = x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)
    return result
