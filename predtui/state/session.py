"""Recorded sessions: every event a JSON line, every sound in a WAV file beside them; read back, and played.

A session is a folder with ``session.jsonl``, ``input-RATE.wav``, ``over-RATE.wav`` (what was said over replies) and one
``reply-TURN-RATE.wav`` a reply. Folding what is read gives the Turn that was seen live. Must not know who listens to a
replay.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from predtui.clock import Clock, RealClock
from predtui.errors import PredtuiError, reason
from predtui.files import parse_json, resolve
from predtui.state import events as ev
from predtui.state.codec import from_json
from predtui.state.recorder import EVENTS_FILE
from predtui.state.reducer import reduce
from predtui.state.turn import Turn

_WAV_HEADER = 44
_READING: int = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
"""No link is followed; nor, on Windows, is any byte taken for the end of a line."""
LONGEST_LINE = 1 << 25
"""Characters of one event, its sound included where that stands in the line."""
LONGEST_PAUSE = 10.0
"""Seconds for which nothing happens in a replay, however long nothing happened."""
LONGEST_SESSION = 86400.0 * 7
"""Seconds from a session's first event to its last."""
_SHOWN = 300
Publish = Callable[[ev.Event], None]


def find_session(path: Path) -> Path:
    """The JSONL file that ``path`` (it, or its folder) means. Raises PredtuiError where there is none."""
    named = resolve(path)
    file = named / EVENTS_FILE if named.is_dir() else named
    if not file.is_file():
        raise PredtuiError(
            f"{path}: no recorded session here.", f"Give a folder that holds {EVENTS_FILE}, or that file."
        )
    return file


def read(path: Path) -> Iterator[ev.Event]:
    """The events of a session, in order. A line that cannot be read becomes a Notice that says which and why.

    Raises PredtuiError where there is no session, or what it begins with is not one's.
    """
    file = find_session(path)
    first: float | None = None
    begun = False
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(LONGEST_LINE), ""), 1):
                if len(line) == LONGEST_LINE:
                    raise PredtuiError(f"{file}, line {number}: longer than {LONGEST_LINE:,} characters.")
                if line.strip():
                    event = _event(file, number, line, first, begun)
                    first, begun = first or event.time or None, True
                    yield event
    except OSError as error:
        raise PredtuiError(f"{file}: cannot be read: {reason(error)}.") from error


def _event(file: Path, number: int, line: str, first: float | None, begun: bool) -> ev.Event:
    """``begun``: whether anything sensible came before. Raises PredtuiError where nothing did, nor is this."""
    try:
        event = from_json(_parsed(line), lambda place: _sound(file.parent, place))
        if first is not None and event.time and abs(event.time - first) > LONGEST_SESSION:
            raise ValueError(f"time {event.time:g} is days away from the first event's, {first:g}")
        return event
    except ValueError as error:
        said = str(error)[:_SHOWN]
        if not begun:
            raise PredtuiError(
                f"{file} is no recorded session: line {number} is none of its events ({said}).",
                f"Give a folder that holds {EVENTS_FILE}, or that file.",
            ) from error
        return ev.Notice(text=f"{file}, line {number}: {said}; the line is left out.", severity="warning")


def _parsed(line: str) -> Any:
    """Raises ValueError, without what a parser says of it."""
    try:
        return parse_json(line)
    except JSONDecodeError:
        raise ValueError("no JSON") from None


def _sound(folder: Path, place: Mapping[str, Any]) -> bytes:
    """PCM out of a WAV file of ours. Raises ValueError where it is not there."""
    name, offset, samples = place["file"], place["offset"], place["samples"]
    if not isinstance(name, str) or type(offset) is not int or type(samples) is not int:
        raise TypeError(f"{place!r} names no sound")
    if Path(name).name != name or offset < 0 or samples < 0 or not (folder / name).is_file():
        raise ValueError(f"{name!r}, offset {offset}, {samples} samples: no sound of this session")
    start, length = _WAV_HEADER + 2 * offset, 2 * samples
    try:
        with open(os.open(folder / name, _READING), "rb") as file:
            if file.seek(0, os.SEEK_END) < start + length:
                raise ValueError(f"the sound {name} ends before sample {offset + samples}")
            file.seek(start)
            return file.read(length)
    except OSError as error:
        raise ValueError(f"the sound {name} cannot be read: {reason(error)}") from error


def play(
    path: Path, publish: Publish, clock: Clock, speed: float = 1.0, stopped: Callable[[], bool] = lambda: False
) -> None:
    """Publish a session's events at the pace they were recorded, ``speed`` times as fast (0: at once); a pause lasts
    ``LONGEST_PAUSE`` at most. Raises PredtuiError as ``read`` does, and where nothing was recorded."""
    due, last, empty = clock.now(), None, True
    for event in read(path):
        empty = False
        if event.time and speed > 0:
            due += min(event.time - (event.time if last is None else last), LONGEST_PAUSE * speed) / speed
            last = event.time
            _sleep_until(due, clock, stopped)
        if stopped():
            return
        publish(event)
    if empty:
        raise _empty(path)


def _empty(path: Path) -> PredtuiError:
    return PredtuiError(f"{path}: nothing was recorded.", "Choose another session.")


def _sleep_until(moment: float, clock: Clock, stopped: Callable[[], bool]) -> None:
    while not stopped() and (left := moment - clock.now()) > 0:
        clock.sleep(min(left, 0.1))


class Replay:
    """Drives a screen from a recording, as the pipeline does from life: listeners are called on a thread of its own."""

    def __init__(self, path: Path, clock: Clock | None = None, speed: float = 1.0) -> None:
        """Raises PredtuiError where there is no session, or what it begins with is not one's."""
        self._path = find_session(path)
        if next(read(self._path), None) is None:
            raise _empty(self._path)
        self._clock: Clock = clock or RealClock()
        self._speed = speed
        self._state = Turn()
        self._listeners: list[Publish] = []
        self._stopped = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="replay", daemon=True)

    @property
    def state(self) -> Turn:
        return self._state

    def subscribe(self, listener: Publish) -> Callable[[], None]:
        self._listeners = [*self._listeners, listener]
        return lambda: self._listeners.remove(listener)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def running(self) -> bool:
        """Whether there is more to come. True before the start."""
        return not self._over.is_set()

    def wait(self, timeout: float | None = None) -> None:
        """Until the recording has been played, at most ``timeout`` seconds."""
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            play(self._path, self._publish, self._clock, self._speed, self._stopped.is_set)
        except PredtuiError as error:
            self._publish(ev.Notice(text=str(error), severity="error"))
        finally:
            self._over.set()

    def _publish(self, event: ev.Event) -> None:
        self._state = reduce(self._state, event)
        for listener in self._listeners:
            listener(event)
