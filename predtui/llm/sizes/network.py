"""A network by its sizes: bytes of its weights, of its cache by the length of the context, of the buffers of a forward,
and of what one token reads.

Sums over a description, which ``of_gguf`` and ``of_folder`` make of files. Must not know of files, of engines, or of
what is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

KV_BYTES = {"f32": 4.0, "f16": 2.0, "q8_0": 34 / 32, "q4_0": 18 / 32}
"""Type of the cache's numbers: bytes of each."""
_STATE_BYTES = 4
"""Of a number of a recurrent state, which is kept in 32 bits."""
_FLOAT = 4


@dataclass(frozen=True, slots=True)
class Layer:
    """``weights`` in bytes, and ``read``, what a token reads of them: of a mixture, the experts that are chosen.
    ``keys`` and ``values``: numbers that the cache holds of each token; ``window``: how many tokens the layer looks
    back, 0 for all; ``state``: numbers that it keeps of a sequence, however long that is."""

    weights: int
    read: int
    keys: int = 0
    values: int = 0
    window: int = 0
    state: int = 0


@dataclass(frozen=True)
class Network:
    """``context``: tokens that it was trained for; ``hidden``, ``feed_forward``: widths, the widest of any layer;
    ``heads``: of its attention's queries. ``inputs``: bytes of the embeddings, of which a token reads one row;
    ``shared``: those of them that are its last matrix, too; ``rest``: bytes of what else is outside the layers."""

    architecture: str
    parameters: int
    context: int
    hidden: int
    feed_forward: int
    heads: int
    vocabulary: int
    layers: tuple[Layer, ...]
    inputs: int
    shared: int
    rest: int

    @cached_property
    def weights(self) -> int:
        """Bytes of all weights."""
        return sum(layer.weights for layer in self.layers) + self.inputs + self.rest

    @property
    def output(self) -> int:
        """Bytes of what follows the layers, all of which a token reads."""
        return self.rest + self.shared

    @cached_property
    def bits(self) -> float:
        """Of a weight, on average."""
        return 8 * self.weights / max(1, self.parameters)

    def cache(self, cells: int, kv: str = "f16", beyond: int | None = None, states: int = 1, flash: bool = True) -> int:
        """Bytes of a cache of so many ``cells`` in numbers of type ``kv``, one of ``KV_BYTES``, with as many recurrent
        ``states``. ``beyond``: cells of a layer with a window beyond that window; None: it has as many as any other.
        Without ``flash`` attention, llama.cpp gives the values of each layer as much room as those of the widest."""
        widest = 0 if flash else max((layer.values for layer in self.layers), default=0)
        return sum(layer_cache(layer, cells, kv, beyond, states, widest) for layer in self.layers)

    def buffers(self, cells: int, batch: int, flash: bool = True, rows: int = 0) -> int:
        """Bytes, about, in which a forward over ``batch`` tokens computes, with a cache of so many ``cells``, and of
        the ``rows`` of logits that it leaves."""
        looks = len({bool(layer.window) for layer in self.layers})
        mask = looks * cells * batch * (_FLOAT if not flash else 2)
        scores = 0 if flash else self.heads * cells * batch * _FLOAT
        layer = 3 * batch * _FLOAT * self.hidden + max(scores, 3 * batch * _FLOAT * self.feed_forward)
        logits = batch * _FLOAT * (self.vocabulary + 2 * self.hidden)
        return max(mask + layer, logits) + rows * self.vocabulary * _FLOAT

    def reads(self, known: int, kv: str = "f16") -> list[int]:
        """Bytes of each layer, then of the output, that a forward over one token reads after ``known`` others."""
        return [
            *(layer.read + layer_cache(layer, min(known, layer.window or known), kv) for layer in self.layers),
            self.output,
        ]


def layer_cache(
    layer: Layer, cells: int, kv: str = "f16", beyond: int | None = None, states: int = 1, widest: int = 0
) -> int:
    """Bytes of a layer's part of the cache, as of ``Network.cache``; ``widest``: the room of its values at least."""
    kept = cells if beyond is None or not layer.window else min(cells, layer.window + beyond)
    values = max(layer.values, widest if layer.keys else 0)
    return int((layer.keys + values) * kept * KV_BYTES[kv]) + _STATE_BYTES * layer.state * states
