"""Events in the order they came, and the Turn after any number of them: what one needs to go back in time.

The reducer is pure, so going back is folding again, from the nearest Turn that was kept on the way. Must not know where
events come from, nor who looks at them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Literal

from predtui.state import events as ev
from predtui.state.reducer import reduce
from predtui.state.turn import Turn

EVERY = 256
"""Events between two Turns that are kept: the most that one step back folds again."""
LONGEST_PAUSE = 10.0
"""Seconds for which nothing happens when events are played again, however long nothing happened."""
Mark = Literal["verdict", "turn"]


class Pace:
    """Seconds from one event to the next as they are played again: pauses are cut short, and no event waits for a
    clock that went back."""

    def __init__(self) -> None:
        self._last: float | None = None

    def step(self, event: ev.Event) -> float:
        """Seconds after the event before."""
        if not event.time:
            return 0.0
        passed = 0.0 if self._last is None else event.time - self._last
        if self._last is None or passed > 0 or passed < -LONGEST_PAUSE:
            self._last = event.time
        return min(max(0.0, passed), LONGEST_PAUSE)


class Tape:
    """Grows at its end. A place on it is the number of events before it; a moment is in seconds from its beginning."""

    def __init__(self, begin: Turn | None = None, events: Iterable[ev.Event] = ()) -> None:
        """``begin``: the Turn before the first event."""
        self._events: list[ev.Event] = []
        self._moments: list[float] = []
        self._marks: dict[Mark, list[int]] = {"verdict": [], "turn": []}
        self._pace = Pace()
        self.seconds = 0.0
        """Its length."""
        self._kept = [begin or Turn()]
        """The Turn after each ``EVERY`` events, as far as they were folded ..."""
        self._last = (0, self._kept[0])
        """... and the one that was asked for last, with its place."""
        for event in events:
            self.add(event)

    def __len__(self) -> int:
        return len(self._events)

    def __getitem__(self, place: int) -> ev.Event:
        """The event that follows ``place``."""
        return self._events[place]

    def add(self, event: ev.Event) -> float:
        """At the end; the moment it has there. What was heard passes time and is no event of its own: it changes
        nothing that is seen."""
        self.seconds += self._pace.step(event)
        if not isinstance(event, ev.AudioFrame):
            self._events.append(event)
            self._moments.append(self.seconds)
            if isinstance(event, ev.TurnStarted | ev.Verdict):
                self._marks["turn" if isinstance(event, ev.TurnStarted) else "verdict"].append(len(self._events))
        return self.seconds

    def state(self, place: int) -> Turn:
        """The Turn after the first ``place`` events: what folding all of them gives."""
        at, turn = self._near(place)
        while at < place:
            turn = reduce(turn, self._events[at])
            at += 1
            if at == len(self._kept) * EVERY:
                self._kept.append(turn)
        self._last = (at, turn)
        return turn

    def _near(self, place: int) -> tuple[int, Turn]:
        """The nearest Turn at or before ``place`` that is kept."""
        kept = min(place // EVERY, len(self._kept) - 1)
        at, _ = self._last
        return self._last if kept * EVERY <= at <= place else (kept * EVERY, self._kept[kept])

    def moment(self, place: int) -> float:
        """When the last of the first ``place`` events came."""
        return self._moments[place - 1] if place else 0.0

    def place(self, moment: float) -> int:
        """How many events had come by then."""
        return bisect_right(self._moments, moment)

    def places(self, mark: Mark) -> tuple[int, ...]:
        """Behind all turns' beginnings, or all verdicts."""
        return tuple(self._marks[mark])

    def marks(self, mark: Mark) -> tuple[float, ...]:
        """Their moments."""
        return tuple(map(self.moment, self._marks[mark]))

    def next(self, mark: Mark, place: int, by: int) -> int:
        """The place after the next event of its kind, or before ``place`` the one before (``by`` -1); the end, or the
        beginning, where there is none."""
        marks = self._marks[mark]
        index = bisect_right(marks, place) if by > 0 else bisect_right(marks, place - 1) - 1
        if 0 <= index < len(marks):
            return marks[index]
        return len(self) if by > 0 else 0

    def since(self, place: int) -> Tape:
        """A tape of its own that begins there."""
        return Tape(self.state(place), self._events[place:])
