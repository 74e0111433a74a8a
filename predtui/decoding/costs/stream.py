"""What a token costs that comes in a streamed request, in place of being drafted. Must not know of models."""

from __future__ import annotations

from predtui.decoding.costs.constants import STREAM_DECAY


class StreamCost:
    """Its share of the request's beginning (way and prompt) included: a short reply's tokens cost more."""

    def __init__(self) -> None:
        self._tokens = self._seconds = 0.0

    def add(self, tokens: int, seconds: float) -> None:
        """A request has brought so many, the last of them after so many seconds; it may have been given up then."""
        if tokens:
            self._tokens = self._tokens * STREAM_DECAY + tokens
            self._seconds = self._seconds * STREAM_DECAY + seconds

    @property
    def seconds(self) -> float:
        """Of a token; 0 while nothing was measured."""
        return self._seconds / self._tokens if self._tokens else 0.0
