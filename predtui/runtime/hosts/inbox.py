"""A stage's queue: what waits, what replaces what, what is dropped when it is full, and what has become stale.

Thread-safe. Must not know who sends or who handles.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable

from predtui.state.events import AudioFrame, Endpoint, Event

FRAME_CAPACITY = 30_000
"""Waiting audio frames kept: the longest turn, ten minutes, for a restarted recogniser is given all of it at once."""

Generation = tuple[int, int]


class Inbox:
    """Events in order of arrival. A newer event removes a waiting replaceable one of its type; the oldest audio frame
    gives way when ``frame_capacity`` of them wait; nothing else is ever dropped."""

    def __init__(self, frame_capacity: int = FRAME_CAPACITY) -> None:
        self._capacity = frame_capacity
        self._waiting: OrderedDict[int, Event] = OrderedDict()
        self._replaceable: dict[type[Event], int] = {}
        self._frames: deque[int] = deque()
        self._count = 0
        self._overflowing = False
        self._closed = False
        self._newest: Generation = (0, 0)
        self._newest_endpoint: Generation = (0, 0)
        self._changed = threading.Condition()
        self._listener: Callable[[Event], None] | None = None

    def watch(self, listener: Callable[[Event], None]) -> None:
        """Notify ``listener`` of each event as it is put in, on the thread of whoever does."""
        self._listener = listener

    def put(self, event: Event) -> bool:
        """Queue ``event``. True when this is the first of a run of audio frames for which an older one is dropped."""
        with self._changed:
            if self._closed:
                return False
            self._note_generation(event)
            self._count += 1
            kind = type(event)
            superseded = self._replaceable.pop(kind, None)
            if superseded is not None:
                del self._waiting[superseded]
            self._waiting[self._count] = event
            if event.replaceable:
                self._replaceable[kind] = self._count
            overflowed = self._bound_frames() if kind is AudioFrame else False
            self._changed.notify()
        if self._listener is not None:
            self._listener(event)
        return overflowed

    def get(self, timeout: float | None = None) -> Event | None:
        """The next event. None after ``timeout`` seconds (None: for ever) without one, or once closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed, timeout)
            if self._closed or not self._waiting:
                return None
            key, event = self._waiting.popitem(last=False)
            kind = type(event)
            if self._replaceable.get(kind) == key:
                del self._replaceable[kind]
            if kind is AudioFrame:
                self._frames.popleft()
            if not self._frames:
                self._overflowing = False
            return event

    def close(self) -> None:
        """Forget what waits and take no more; whoever waits in ``get`` returns, and all work becomes stale."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        return self._closed

    def __len__(self) -> int:
        return len(self._waiting)

    def stale(self, event: Event) -> bool:
        """Whether work on ``event`` has been overtaken by a newer generation. The end of the input does not overtake
        the sound that was recorded before it."""
        if self._closed or event.generation < self._newest:
            return True
        return not isinstance(event, AudioFrame) and event.generation < self._newest_endpoint

    def _note_generation(self, event: Event) -> None:
        if isinstance(event, Endpoint):
            self._newest_endpoint = max(self._newest_endpoint, event.generation)
        else:
            self._newest = max(self._newest, event.generation)

    def _bound_frames(self) -> bool:
        self._frames.append(self._count)
        if len(self._frames) <= self._capacity:
            return False
        del self._waiting[self._frames.popleft()]
        first, self._overflowing = not self._overflowing, True
        return first
