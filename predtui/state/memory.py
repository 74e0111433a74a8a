"""The last turns of a session, event by event, for whoever looks back at them. Must not know who does.

Costs little: sound is not kept, and a turn that is forgotten leaves one Turn in its place.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from predtui.state import events as ev
from predtui.state.tape import Tape

TURNS = 8
"""Turns that are kept, at least where they are no longer than others ..."""
MOST = 6000
"""... and events."""


class Memory:
    """A listener, which may be asked from another thread."""

    def __init__(self, turns: int = TURNS, most: int = MOST) -> None:
        self._turns, self._most = turns, most
        self._tape = Tape()
        self._usage: ev.Usage | None = None
        """The last, not kept yet: while nothing happens, one of them is enough."""
        self._lock = threading.Lock()

    def __call__(self, event: ev.Event) -> None:
        """Returns at once."""
        if isinstance(event, ev.AudioFrame):
            return
        with self._lock:
            waiting, self._usage = self._usage, event if isinstance(event, ev.Usage) else None
            if self._usage is None:
                if waiting:
                    self._tape.add(waiting)
                self._tape.add(_soundless(event))
                self._forget(isinstance(event, ev.TurnStarted))

    def tape(self) -> Tape:
        """All that is remembered by now: a tape of its own."""
        with self._lock:
            tape = self._tape.since(0)
            if self._usage:
                tape.add(self._usage)
            return tape

    def _forget(self, begun: bool) -> None:
        """What came before the turns that are kept, once another has ``begun``; half of it where it is too much."""
        starts = self._tape.places("turn")
        if len(self._tape) > self._most:
            self._tape = self._tape.since(len(self._tape) - self._most // 2)
        elif begun and len(starts) > self._turns:
            self._tape = self._tape.since(starts[-self._turns] - 1)


def _soundless(event: ev.Event) -> ev.Event:
    """Of sound, all that is seen is whether there was any: one sample is left."""
    return replace(event, pcm=event.pcm[:2]) if isinstance(event, ev.SpeechChunk) else event
