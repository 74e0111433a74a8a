"""Plays a tape: on and on, or wherever one wants to be in it. Must not know where the tape comes from, nor its sound.

Listeners are called on a thread of the player's own. At a jump they are told of once, with an event that says nothing:
the state is what counts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from predtui.clock import Clock, RealClock
from predtui.state import events as ev
from predtui.state.tape import Mark, Tape
from predtui.state.turn import Turn

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Times as fast as it was, those that one can change to."""
BATCH = 256
"""Events that are played before others get their turn."""
Publish = Callable[[ev.Event], None]


class Position(NamedTuple):
    """Where a player is. ``place`` of ``events``, ``moment`` of ``seconds``; ``jumps`` counts all that is no mere
    playing on: who follows the sound begins anew when it changes."""

    moment: float
    seconds: float
    place: int
    events: int
    speed: float
    playing: bool
    jumps: int


class Player:
    """All methods may be called from any thread, and return at once."""

    def __init__(self, tape: Tape | None = None, clock: Clock | None = None, speed: float = 1.0) -> None:
        """It stands at the end of the tape."""
        self.tape = tape or Tape()
        self._clock: Clock = clock or RealClock()
        self._speed, self._playing, self._jumps = speed, False, 0
        self._place = len(self.tape)
        self._state = self.tape.state(self._place)
        self._from = (self._clock.now(), self.tape.moment(self._place))
        """A time of the clock, and the moment that was reached then."""
        self._listeners: list[Publish] = []
        self._changed = threading.Condition(threading.RLock())
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="player", daemon=True)

    # --- as the screen sees a driver ---------------------------------------------------------------------------------

    @property
    def state(self) -> Turn:
        return self._state

    def subscribe(self, listener: Publish) -> Callable[[], None]:
        self._listeners = [*self._listeners, listener]
        return lambda: self._listeners.remove(listener)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Harmless twice, and where it never started."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    # --- where one is ------------------------------------------------------------------------------------------------

    @property
    def position(self) -> Position:
        with self._changed:
            moment = min(self._moment(), self.tape.seconds)
            there = (self._place, len(self.tape), self._speed, self._playing, self._jumps)
            return Position(moment, self.tape.seconds, *there)

    def toggle(self) -> None:
        """Pauses, or goes on; at the end, begins anew."""
        with self._changed:
            self._play(not self._playing)
            if self._playing and self._place == len(self.tape):
                self._move(self.opening)

    @property
    def opening(self) -> int:
        """The place where the first turn begins; what came before is how the stages started."""
        first = self.tape.next("turn", 0, 1)
        return first if first < len(self.tape) else 0

    def step(self, by: int) -> None:
        """``by`` events on, or back; pauses."""
        with self._changed:
            self._play(False)
            self._move(max(0, min(self._place + by, len(self.tape))))

    def jump(self, mark: Mark, by: int) -> None:
        """To the next verdict or turn, or the one before (``by`` -1)."""
        with self._changed:
            self._move(self.tape.next(mark, self._place, by))

    def behind(self, event: ev.Event) -> bool:
        """To where ``event``, a verdict, has just come, and pauses; False where it is not remembered."""
        with self._changed:
            places = [place for place in self.tape.places("verdict") if self.tape[place - 1] == event]
            if places:
                self._play(False)
                self._move(places[-1])
            return bool(places)

    def home(self) -> None:
        """To where the first turn begins; from there, to the very beginning."""
        with self._changed:
            self._move(self.opening if self._place > self.opening else 0)

    def end(self) -> None:
        with self._changed:
            self._move(len(self.tape))

    def seek(self, moment: float) -> None:
        """To ``moment``, at most the end."""
        with self._changed:
            moment = max(0.0, min(moment, self.tape.seconds))
            self._move(self.tape.place(moment), moment)

    def change_speed(self, by: int) -> None:
        """The next in ``SPEEDS``, or the one before (-1)."""
        with self._changed:
            self._from = (self._clock.now(), self._moment())
            others = [speed for speed in SPEEDS if (speed - self._speed) * by > 0]
            self._speed = (min if by > 0 else max)(others, default=self._speed)
            self._notify()

    # --- in the lock -------------------------------------------------------------------------------------------------

    def _moment(self) -> float:
        then, moment = self._from
        return moment + (self._clock.now() - then) * self._speed if self._playing else moment

    def _play(self, on: bool) -> None:
        self._from = (self._clock.now(), min(self._moment(), self.tape.seconds))
        self._playing = on
        self._notify()

    def _move(self, place: int, moment: float | None = None) -> None:
        self._place, self._state = place, self.tape.state(place)
        self._from = (self._clock.now(), self.tape.moment(place) if moment is None else moment)
        self._notify()
        self._tell(ev.Event())

    def _notify(self) -> None:
        self._jumps += 1
        self._changed.notify_all()

    def _tell(self, event: ev.Event) -> None:
        for listener in self._listeners:
            listener(event)

    # --- the thread --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        with self._changed:
            while not self._stopped:
                self._changed.wait(self._advance())

    def _advance(self) -> float | None:
        """Plays what is due. Seconds until more is; None where nothing is before something changes."""
        if not self._playing:
            return None
        now = self._moment()
        for _ in range(BATCH):
            if self._place == len(self.tape):
                self._end()
                return None
            due = self.tape.moment(self._place + 1)
            if due > now:
                return (due - now) / self._speed
            self._place += 1
            self._state = self.tape.state(self._place)
            self._tell(self.tape[self._place - 1])
        return 0.0

    def _end(self) -> None:
        """Stands at the end, and waits to be sent elsewhere."""
        self._playing = False
        self._from = (self._clock.now(), self.tape.seconds)
        self._notify()
