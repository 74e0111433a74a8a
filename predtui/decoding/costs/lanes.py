"""When a decoder's target and its draft were at work, in pieces long enough to be drawn. Knows neither of them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

PIECE_S = 0.1
"""Work that begins within so many seconds is told as one piece."""
TARGET, DRAFT = "target", "draft"
_MOST = 400


@dataclass(frozen=True, slots=True)
class Piece:
    """``lane`` was at work for ``end - start`` seconds in all, from ``start`` on."""

    lane: str
    start: float
    end: float


class Lanes:
    """A forward may take a tenth of a millisecond: what it took is added to the piece that it falls into, so that how
    busy a lane was stays right, and where in the piece is lost."""

    def __init__(self) -> None:
        self._open: dict[str, list[float]] = {}
        """Start and end of the piece of each lane that is not closed yet."""
        self._closed: deque[Piece] = deque(maxlen=_MOST)

    def worked(self, lane: str, start: float, end: float) -> None:
        """Seconds of the clock."""
        piece = self._open.get(lane)
        if piece is not None and start < piece[0] + PIECE_S:
            piece[1] += end - start
            return
        if piece is not None:
            self._closed.append(Piece(lane, *piece))
        self._open[lane] = [start, end]

    def take(self, over: bool = False) -> list[Piece]:
        """The pieces since the last call that are closed; all of them once the reply is ``over``."""
        if over:
            self._closed.extend(Piece(lane, *piece) for lane, piece in self._open.items())
            self._open.clear()
        taken = list(self._closed)
        self._closed.clear()
        return taken
