"""A model behind a network, each request to which is timed; and one that the same is asked of again goes on.

Must not know what requests are for, or of any particular server.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from predtui.llm.around import Generating, ModelAround
from predtui.llm.base import LanguageModel, Preempted
from predtui.llm.rows import Rows

GRACE_S = 0.06
"""By so much nobody notices that a reply is later."""
_NOISE_S = GRACE_S / 2
"""By so much requests differ that nothing was in the way of."""
_RECENT_S = 1.0
"""So long after one was given up, what a request takes is no sign of that any more."""
_KEPT, _BUSY_KEPT, _TOKENS_KEPT = 8, 5, 64


class ServerTimes:
    """What a server takes, in seconds, by the last requests."""

    def __init__(self) -> None:
        self._first, self._busy = deque[float](maxlen=_KEPT), deque[float](maxlen=_BUSY_KEPT)
        self._tokens = deque[float](maxlen=_TOKENS_KEPT)

    @property
    def first(self) -> float:
        """Until the first token, where nothing was in the way; infinite before anything was asked."""
        return sorted(self._first)[(len(self._first) - 1) // 2] if self._first else math.inf

    @property
    def token(self) -> float:
        """For each of the others."""
        return sum(self._tokens) / len(self._tokens) if self._tokens else 0.0

    @property
    def busy(self) -> float:
        """For which it goes on with a request that was given up: the longest of late, but for one, which may have been
        chance; infinite while nobody knows."""
        return sorted(self._busy)[-2:][0] if self._busy else math.inf

    @property
    def known(self) -> bool:
        return bool(self._busy)

    def began(self, waited: float, since: float) -> None:
        """The first token came after ``waited``, of a request ``since`` after the last one was given up."""
        if since > _RECENT_S:
            self._first.append(waited)
        else:
            extra = waited - self.first
            self._busy.append(since + extra if extra > _NOISE_S else 0.0)

    def waited_for(self, waited: float, since: float) -> None:
        """A request was given up, for whose first token one had waited so long."""
        extra = waited - self.first
        if since <= _RECENT_S and extra > _NOISE_S:
            self._busy.append(since + extra)

    def went_on(self, seconds: float) -> None:
        """Another token came."""
        self._tokens.append(seconds)


@dataclass(slots=True)
class _Request:
    """``context``: the prompt with what has come. ``since``: seconds since one was given up, when it began."""

    context: list[int]
    left: int
    stream: Generator[int, None, None]
    began: float
    since: float
    told: int = 0
    held: bool = False


class RequestedModel(ModelAround):
    """Another model. A request that nobody reads any more goes on while ``goes_on`` says that the same will be asked
    again: whoever asks for what it is at is given the rest of it."""

    def __init__(
        self,
        model: LanguageModel,
        now: Callable[[], float],
        goes_on: Callable[[], bool],
        times: ServerTimes | None = None,
    ) -> None:
        super().__init__(model)
        self.times = times or ServerTimes()
        self._now, self._goes_on = now, goes_on
        self._held: _Request | None = None
        self._gave_up = -math.inf

    def read(self, tokens: Sequence[int], limit: int, count: int) -> None:
        """``count`` tokens of a request for ``limit``, which is then given up."""
        stream = self.generate(tokens, limit)
        try:
            for _ in zip(range(count), stream, strict=False):
                continue
        finally:
            stream.close()

    def drop(self) -> None:
        """Nobody asks for the rest of what is held."""
        if self._held is not None:
            self._give_up(self._held)
            self._held = None

    def _forward(self, forward: Callable[[], Rows], length: int, rows: int) -> Rows:
        self.drop()
        try:
            return forward()
        except Preempted:
            self._gave_up = self._now()
            raise

    def _streamed(self, generate: Generating, tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        request = self._taken(tokens)
        while limit > 0:
            if request is None:
                now = self._now()
                request = _Request(list(tokens), limit, generate(tokens, limit), now, now - self._gave_up)
            try:
                while limit > 0 and (token := self._next(request)) is not None:
                    limit -= 1
                    yield token
            except GeneratorExit:
                if self._goes_on():
                    self._held, request.held = request, True
                raise
            finally:
                if self._held is not request:
                    self._give_up(request)
            if request.left:
                return
            tokens, request = request.context, None

    def _taken(self, tokens: Sequence[int]) -> _Request | None:
        """What is held, where it is at ``tokens``."""
        if self._held is not None and self._held.context != list(tokens):
            self.drop()
        request, self._held = self._held, None
        return request

    def _next(self, request: _Request) -> int | None:
        """The next token of it, timed; None after its last."""
        start = self._now()
        try:
            token = next(request.stream)
        except StopIteration:
            return None
        except Preempted:
            self._gave_up = self._now()
            if not request.told:
                self.times.waited_for(self._gave_up - request.began, request.since)
            raise
        if not request.told:
            self.times.began(self._now() - request.began, request.since)
        elif not request.held:
            self.times.went_on(self._now() - start)
        request.told += 1
        request.left -= 1
        request.context.append(token)
        return token

    def _give_up(self, request: _Request) -> None:
        """Close it; whether that ends work of the server, the model's counters tell."""
        before = self.counters.cancelled
        request.stream.close()
        if self.counters.cancelled > before:
            self._gave_up = self._now()
