"""Forwards captured as CUDA graphs, one after the other, while the network rests: no turn waits for more than the one
forward that is under way. Must not know of networks or of caches.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor

from predtui.llm.torch.shapes import Shape

REST_S = 1.0
"""Seconds without a forward after which the network rests."""

Work = Callable[[], Tensor]
Capture = Callable[[Work], Work]
"""Takes work on fixed memory and returns what repeats it; the result is written to the same tensor each time."""

_log = logging.getLogger("predtui.torch")


def cuda_graph(work: Work) -> Work:
    """``Capture`` on the current CUDA device. Raises RuntimeError, as torch does, for work that cannot be captured."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=_pool(), capture_error_mode="thread_local"):
        result = work()

    def repeat() -> Tensor:
        graph.replay()
        return result

    return repeat


@cache
def _pool() -> Any:
    """Memory of all graphs: of two, one is over and its result copied before the other begins."""
    return torch.cuda.graph_pool_handle()


class Graphs:
    """What repeats the work on each shape, as far as it has been captured."""

    def __init__(
        self,
        work: Callable[[Shape], Tensor],
        idle: Callable[[Shape], AbstractContextManager[None]],
        shapes: Sequence[Shape],
        capture: Capture | None,
        rest_s: float = REST_S,
    ) -> None:
        """``idle``: within it, ``work`` on the shape may be done for nobody. ``capture``: None captures nothing."""
        self._work, self._idle, self._shapes, self._capture = work, idle, shapes, capture
        self._turn, self._closed = threading.Lock(), threading.Event()
        self._rest_s, self._worked = rest_s, time.monotonic()
        self._repeats: dict[Shape, Work] = {}
        self.failure = ""
        """Why no more are captured, in a line."""
        self.thread = threading.Thread(target=self._all, name="graphs", daemon=True)
        if capture:
            self.thread.start()

    def __len__(self) -> int:
        return len(self._repeats)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Within it, the network and the memory of its shapes belong to the caller."""
        with self._turn:
            try:
                yield
            finally:
                self._worked = time.monotonic()

    def repeat(self, shape: Shape) -> Tensor:
        """The result of the work on what ``shape`` holds."""
        repeat = self._repeats.get(shape)
        return repeat() if repeat else self._work(shape)

    def close(self) -> None:
        self._closed.set()
        if self.thread.is_alive():
            self.thread.join()
        self._repeats = {}

    def _all(self) -> None:
        for shape in self._shapes:
            try:
                for step in (self._warm, self._add):
                    if not self._rested():
                        return
                    with self._turn, torch.inference_mode(), self._idle(shape):
                        step(shape)
            except RuntimeError as error:
                self.failure = (str(error).strip().splitlines() or [type(error).__name__])[0]
                _log.warning("forwards of %d tokens cannot be captured: %s", shape.size, self.failure)
                return

    def _warm(self, shape: Shape) -> None:
        """Have libraries choose their kernels before the capture, on a stream of its own as that is."""
        if shape.ids.device.type != "cuda":
            self._work(shape)
            return
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self._work(shape)
        torch.cuda.current_stream().wait_stream(side)

    def _add(self, shape: Shape) -> None:
        assert self._capture is not None
        self._repeats[shape] = self._capture(lambda: self._work(shape))

    def _rested(self) -> bool:
        """Wait until the network rests; False where it is closed before."""
        while (left := self._worked + self._rest_s - time.monotonic()) > 0:
            if self._closed.wait(left):
                return False
        return not self._closed.is_set()
