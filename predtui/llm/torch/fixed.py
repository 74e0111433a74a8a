"""A network over a cache of fixed size: keys and values lie in memory that is set aside once, and are cut by position.

Forwards come in a few shapes, filled up with tokens that nobody looks at, so that each shape can be captured as a CUDA
graph, which is one launch where a forward is hundreds. Must not know of files, or of how a graph is captured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import Cache, CacheLayerMixin

from predtui.llm.abilities import Abilities
from predtui.llm.base import Stale, never
from predtui.llm.torch.graphs import REST_S, Capture, Graphs, cuda_graph
from predtui.llm.torch.model import TorchModel
from predtui.llm.torch.shapes import SIZES, Shape, shapes, size_of, width_of
from predtui.llm.torch.tree import TorchTreeModel, takes_trees

_BLOCK = 64
"""Cells of the cache are a multiple, as kernels like it."""
_NEAR = 0.05
"""Share of the largest logit by which rows of 16 bits may differ."""


class Spot:
    """Where the layers of a cache write: ``cells`` [tokens]; and how many of its first cells they look at."""

    cells: Tensor
    seen = 0


class Cells(CacheLayerMixin):  # type: ignore[no-untyped-call]
    """Keys and values of one layer, [1, heads, cells, width], written and read where ``spot`` says."""

    is_sliding = False
    keys: Any
    values: Any

    def __init__(self, spot: Spot, count: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._spot, self._count = spot, count

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        self.keys, self.values = (
            states.new_zeros(1, states.shape[1], self._count, states.shape[3]) for states in (key_states, value_states)
        )
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *_args: Any, **_named: Any) -> tuple[Tensor, Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        spot, keys, values = self._spot, self.keys, self.values
        keys.index_copy_(2, spot.cells, key_states)
        values.index_copy_(2, spot.cells, value_states)
        return keys[:, :, : spot.seen], values[:, :, : spot.seen]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self._spot.seen, 0

    def get_seq_length(self) -> int:
        return self._spot.seen

    def get_max_length(self) -> int:
        return self._count

    def crop(self, tokens_to_remove: int) -> None:
        """What lies beyond the sequence is hidden by the mask until it is written over."""


class FixedModel(TorchTreeModel):
    """A ``TreeModel`` whose forwards are repeated by graphs, for networks of which ``unfixed`` says nothing."""

    def __init__(
        self,
        network: Any,
        context: int = 0,
        stale: Stale = never,
        capture: Capture | None = cuda_graph,
        rest_s: float = REST_S,
    ) -> None:
        """As ``TorchModel``; ``capture`` and ``rest_s`` as ``Graphs``."""
        super().__init__(network, context, stale)
        self._mark = 0
        self._saved: list[tuple[int, list[tuple[Tensor, Tensor]]]] = []
        made = tuple(shapes(self._count, network.device, network.dtype))
        self._shapes = {(shape.size, shape.width): shape for shape in made}
        self.graphs = Graphs(self._work, self._for_nobody, made, capture, rest_s)

    @property
    def abilities(self) -> Abilities:
        """No windows, and no parts: while a graph is captured, nothing else may use the network. No soft tokens: its
        forwards are those that were captured."""
        return replace(super().abilities, windows=False, layers=0, soft=False)

    def close(self) -> None:
        self.graphs.close()
        self._shapes = {}
        self.__dict__.pop("_fixed", None)
        super().close()

    @contextmanager
    def aside(self, tokens: Sequence[int], room: int) -> Iterator[None]:
        """As ``SparingModel`` says: what is about to be written over is saved before."""
        self._settle(tokens)
        memory, self._mark = list(self._memory), len(self._memory)
        try:
            yield
        finally:
            self._restore()
            self._memory, self._parents, self._mark = memory, (), 0

    @torch.inference_mode()
    def _evaluate(
        self,
        tokens: Sequence[int],
        wanted: int,
        positions: Sequence[int] | None = None,
        seen: Tensor | None = None,
    ) -> Tensor:
        start = len(self._memory)
        self._save(start)
        key = size_of(len(tokens)), width_of(start + len(tokens), self._count)
        with self.graphs.working():
            shape = self._shapes.get(key) or Shape(*key, self.network.device, self.network.dtype, max(1, wanted))
            shape.fill(tokens, start, positions, seen)
            logits = self.graphs.repeat(shape)
            last = len(logits) - (shape.size - len(tokens))
            rows = logits[last - wanted : last].to("cpu", torch.float32, copy=True)
            if self._telling:
                self._states = shape.states[last - wanted : last].to("cpu", torch.float32, copy=True)
        self._memory.extend(tokens)
        self.counters.tokens += len(tokens)
        return rows

    def _work(self, shape: Shape) -> Tensor:
        """A forward over what the shape holds: its logits [at least those wanted, vocab]; the states behind them are
        the shape's. What is captured keeps them, since somebody may ask for them later."""
        self._spot.cells, self._spot.seen = shape.cells, shape.width
        with self._noting():
            out = self.network(
                shape.ids,
                position_ids=shape.positions,
                attention_mask=shape.mask,
                use_cache=True,
                logits_to_keep=shape.wanted,
                **{self._cache_name: self._fixed},
            )
        shape.states = self._states
        logits: Tensor = out.logits[0]
        return logits

    @contextmanager
    def _for_nobody(self, shape: Shape) -> Iterator[None]:
        """Within it, the work on ``shape`` writes where no sequence comes, and is halted by nothing."""
        shape.fill([0] * shape.size, self._count - SIZES[-1], [0] * shape.size)
        self._deaf = True
        try:
            yield
        finally:
            self._deaf = False

    @property
    def _count(self) -> int:
        """Cells: those of the context, and spare ones behind them, which the filling of a shape may take."""
        return -(-self._context_size // _BLOCK) * _BLOCK + SIZES[-1]

    @cached_property
    def _spot(self) -> Spot:
        return Spot()

    @cached_property
    def _fixed(self) -> Any:
        layers = DynamicCache(config=self.network.config.get_text_config()).layers
        return Cache(layers=[Cells(self._spot, self._count) for _ in layers])

    def _empty(self) -> Any:
        return self._fixed

    @torch.inference_mode()
    def _keep(self, root: int, path: Sequence[int]) -> None:
        if list(path) == list(range(len(path))):
            return
        cells = torch.tensor([root + node for node in path], device=self.network.device)
        for layer in self._fixed.layers:
            for held in (layer.keys, layer.values):
                held[:, :, root : root + len(path)] = held.index_select(2, cells)

    @torch.inference_mode()
    def _save(self, start: int) -> None:
        """Of what is put aside, that which comes to lie behind ``start``."""
        if start < self._mark:
            cut = slice(start, self._mark)
            copies = [(layer.keys[:, :, cut].clone(), layer.values[:, :, cut].clone()) for layer in self._fixed.layers]
            self._saved.append((start, copies))
            self._mark = start

    @torch.inference_mode()
    def _restore(self) -> None:
        for start, copies in self._saved:
            for layer, (keys, values) in zip(self._fixed.layers, copies, strict=True):
                cut = slice(start, start + keys.shape[2])
                layer.keys[:, :, cut], layer.values[:, :, cut] = keys, values
        self._saved = []


def unfixed(network: Any) -> str:
    """Why forwards over a cache of fixed size cannot stand for the network's own, in a few words; empty where they
    can."""
    kind = network.config.model_type
    if not takes_trees(network):
        return f"{kind} does not attend to all that came before"
    if not getattr(network, "_can_compile_fullgraph", False):
        return f"transformers has no static form of {kind}"
    return "" if _agrees(network) else f"{kind} computes something else with a mask of ours"


def _agrees(network: Any) -> bool:
    """Whether both kinds of cache give the same rows: what takes no mask or positions may ignore them without a word,
    or fail with any exception."""
    asked = [1, 2, 3, 4, 5]
    own = TorchModel(network, len(asked)).forward(asked, 2).logits
    model = FixedModel(network, len(asked), capture=None)
    try:
        model.forward(asked[:2])
        ours = model.forward(asked, 2).logits
    except Exception:
        return False
    return bool(abs(own - ours).max() <= _NEAR * abs(own).max())
