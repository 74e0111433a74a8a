"""When a decoder's target and its draft were at work, in spans long enough to be drawn. Knows neither of them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from predtui.decoding.costs.constants import MOST_SPANS, SPAN_S

TARGET, DRAFT = "target", "draft"


@dataclass(frozen=True, slots=True)
class WorkSpan:
    """``worker`` was at work for ``end - start`` seconds in all, from ``start`` on."""

    worker: str
    start: float
    end: float


class WorkSpans:
    """A forward may take a tenth of a millisecond: its time is added to the span in which it begins, so that how busy
    a worker was stays right, and where in the span is lost."""

    def __init__(self) -> None:
        self._open: dict[str, list[float]] = {}
        """Start and end of the span of each worker that is not closed yet."""
        self._closed: deque[WorkSpan] = deque(maxlen=MOST_SPANS)
        self.seconds = {TARGET: 0.0, DRAFT: 0.0}
        """How long each was at work since the start."""

    def worked(self, worker: str, start: float, end: float) -> None:
        """Seconds of the clock."""
        self.seconds[worker] += end - start
        span = self._open.get(worker)
        if span is not None and start < span[0] + SPAN_S:
            span[1] += end - start
            return
        if span is not None:
            self._closed.append(WorkSpan(worker, *span))
        self._open[worker] = [start, end]

    def take(self, over: bool = False) -> list[WorkSpan]:
        """The spans since the last call that are closed; all of them once the reply is ``over``."""
        if over:
            self._closed.extend(WorkSpan(worker, *span) for worker, span in self._open.items())
            self._open.clear()
        taken = list(self._closed)
        self._closed.clear()
        return taken
