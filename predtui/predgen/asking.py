"""When a server is asked while input goes on: where no reply can come later for it.

A request that is under way when the input ends is in the way of the reply, for as long as its server goes on with what
was given up. That is measured when the model is opened, and at each request from then on; so is how soon one prompt
follows another. Must not know what is asked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from predtui.llm.base import Preempted, never
from predtui.llm.halt import Halt
from predtui.llm.requested import GRACE_S, RequestedModel, ServerTimes
from predtui.state.events import Asks, Event, Transcript, TurnStarted

_KEPT, _ENOUGH = 16, 3
"""Intervals that are remembered, and that tell something."""
_SURE = 0.5
"""Of the shortest, what the next will hardly be shorter than."""
_FEW, _MANY = 4, 24
"""Tokens that are read of a request to learn how fast they come, and that one asks for that is to be given up."""
TRIED = ("so", "is", "we", "it", "no", "as")
"""Words to try a server with."""


class Asking:
    """What is asked for, by what is known of server and person."""

    def __init__(self, times: ServerTimes | None = None, tokens: int = 0) -> None:
        """``times``: None where nothing keeps one waiting. ``tokens``: the most of a request before the end."""
        self._times, self._tokens = times, tokens
        self._words, self._ends = deque[float](maxlen=_KEPT), deque[float](maxlen=_KEPT)
        """Seconds from one prompt to the next, and from where one went on after a pause to the end of the input."""
        self._turn()

    def arrived(self, event: Event, time: float) -> None:
        """Called in the host's thread."""
        if isinstance(event, TurnStarted):
            self._turn()
        elif isinstance(event, Transcript) and event.prompt:
            if event.prompt != self._prompt:
                self._follows(event, time)
            if event.final and self._resumed is not None:
                self._ends.append(time - self._resumed)

    @property
    def stops(self) -> bool:
        """Whether what is given up is in nobody's way."""
        return self._times is None or self._times.busy <= GRACE_S

    @property
    def asks(self) -> Asks:
        """From what on a server is asked: at each word; in pauses alone; or once the input has ended."""
        times = self._times
        if times is None or self.stops or times.first + self._tokens * times.token <= _least(self._words):
            return "words"
        return "pauses" if times.busy <= _least(self._ends) else "end"

    def admits(self, heard: Transcript) -> bool:
        """Whether ``heard`` is asked for now."""
        return heard.final or self.asks == "words" or (heard.paused and self.asks == "pauses")

    def _turn(self) -> None:
        self._prompt, self._came, self._paused = "", 0.0, False
        self._resumed: float | None = None

    def _follows(self, event: Transcript, time: float) -> None:
        if self._prompt:
            self._words.append(time - self._came)
        if self._paused:
            self._resumed = time
        self._prompt, self._came, self._paused = event.prompt, time, event.paused


def _least(intervals: Sequence[float]) -> float:
    """What an interval will hardly be shorter than; 0 while too few are known."""
    return _SURE * min(intervals) if len(intervals) >= _ENOUGH else 0.0


def survey(model: RequestedModel, prompt: Callable[[str], Sequence[int]], halt: Halt, now: Callable[[], float]) -> None:
    """Find out what the server takes, and how long it goes on with a request that is given up before its first token,
    when a server is slowest to stop. ``prompt``: that of a word. What seems to take long is tried again."""
    prompts = (prompt(word) for word in TRIED)
    for _ in range(2):
        model.read(next(prompts), _FEW, _FEW)
    for _ in range(2):
        given_up, after = next(prompts), next(prompts)  # which may be requests of their own, before the halt
        end = now() + model.times.first / 2
        halt.also = lambda end=end: now() >= end  # type: ignore[misc]
        with suppress(Preempted):
            model.read(given_up, _MANY, _FEW)
        halt.also = never
        model.read(after, 1, 1)
        if model.times.busy <= GRACE_S:
            return
