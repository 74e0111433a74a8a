"""Steps of the network as CUDA graphs: one launch per frame instead of hundreds, over a static key-value cache.

A captured graph reads and writes fixed memory, so the static cache is lent to one sentence at a time; every other
sentence keeps a copy of its own. Must not know what a column means.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

import torch
from torch import Tensor

from predtui.tts.zonos.backbone import KeyValueCache
from predtui.tts.zonos.config import CODEBOOKS
from predtui.tts.zonos.model import BATCH, ZonosModel

WARM_UPS = 3
"""Runs before a capture, in which libraries choose their kernels."""
SHORTEST = 512
"""Positions that the smallest graph attends to; each larger one attends to twice as many."""

Work = Callable[[], Tensor]
Capture = Callable[[Work], Work]
"""Takes work on fixed memory and returns what repeats it; the result is written to the same tensor each time."""


def cuda_graph(work: Work) -> Work:
    """``Capture`` on the current CUDA device. Raises RuntimeError, as torch does, for work that cannot be captured."""
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARM_UPS):
            work()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work()

    def repeat() -> Tensor:
        graph.replay()
        return result

    return repeat


class GraphedSteps:
    """``ZonosModel.step`` for one column after another, captured once for each power of two of places."""

    def __init__(self, model: ZonosModel, capacity: int, capture: Capture = cuda_graph) -> None:
        """``capacity``: positions of the longest sentence with its prefix; beyond it, steps are not captured."""
        self._model, self._capture = model, capture
        self._static = KeyValueCache.empty(model.config.backbone, BATCH, model.weight, capacity)
        self._tenant: weakref.ref[KeyValueCache] = weakref.ref(self._static)
        self._graphs: dict[int, Work] = {}
        self._column = torch.zeros((CODEBOOKS, 1), dtype=torch.long, device=model.weight.device)
        self._position = torch.zeros(1, dtype=torch.long, device=model.weight.device)

    def step(self, columns: Tensor, cache: KeyValueCache) -> Tensor:
        """As ``ZonosModel.step``. The result holds until the next call."""
        if columns.shape[1] != 1 or cache.length >= self._static.capacity:
            self._move_out(cache)
            return self._model.step(columns, cache)
        self._move_in(cache)
        self._column.copy_(columns)
        self._position.fill_(cache.length)
        cache.length += 1
        self._model.counters.forwards += 1
        self._model.counters.tokens += 1
        return self._graph(self._places(cache.length))()

    def _graph(self, places: int) -> Work:
        if places not in self._graphs:
            self._graphs[places] = self._capture(lambda: self._work(places))
        return self._graphs[places]

    def _work(self, places: int) -> Tensor:
        x = self._model.embed(self._column)
        return self._model.logits(self._model.backbone(x, self._static, self._position, places))

    def _places(self, length: int) -> int:
        places = SHORTEST
        while places < length:
            places *= 2
        return min(places, self._static.capacity)

    def _move_in(self, cache: KeyValueCache) -> None:
        """Let ``cache`` live in the static memory; who lived there takes a copy along."""
        tenant = self._tenant()
        if tenant is cache:
            return
        if tenant is not None:
            self._move_out(tenant)
        self._static.storage[..., : cache.length, :] = cache.storage[..., : cache.length, :]
        cache.storage = self._static.storage
        self._tenant = weakref.ref(cache)

    def _move_out(self, cache: KeyValueCache) -> None:
        if self._tenant() is cache and cache is not self._static:
            cache.storage = cache.saved()
            self._tenant = weakref.ref(self._static)
