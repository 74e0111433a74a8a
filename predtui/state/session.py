"""Recorded sessions: every event a JSON line, every sound in a WAV file beside them; written, read back, played.

A session is a folder with ``session.jsonl``, ``input-RATE.wav`` and one ``reply-TURN-RATE.wav`` a reply. Folding what
is read gives the Turn that was seen live. Must not know who listens to a replay.
"""

from __future__ import annotations

import json
import os
import threading
import wave
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from predtui.clock import Clock, RealClock
from predtui.errors import PredtuiError
from predtui.files import parse_json, resolve
from predtui.settings import state_folder
from predtui.state import events as ev
from predtui.state.codec import from_json, inline_sound, to_json
from predtui.state.reducer import reduce
from predtui.state.turn import Turn

__all__ = ["Recorder", "Replay", "find_session", "new_session_folder", "play", "read", "to_json"]

EVENTS_FILE = "session.jsonl"
_WAV_HEADER = 44
LONGEST_LINE = 1 << 25
"""Characters of one event, its sound included where that stands in the line."""
LONGEST_PAUSE = 10.0
"""Seconds for which nothing happens in a replay, however long nothing happened."""
LONGEST_SESSION = 86400.0 * 7
"""Seconds from a session's first event to its last."""
_SHOWN = 300
Publish = Callable[[ev.Event], None]


def new_session_folder() -> Path:
    """Where the next session goes, by the time of day; not yet made."""
    return state_folder() / "sessions" / datetime.now().strftime("%Y-%m-%d-%H%M%S-%f")


def find_session(path: Path) -> Path:
    """The JSONL file that ``path`` (it, or its folder) means. Raises PredtuiError where there is none."""
    named = resolve(path)
    file = named / EVENTS_FILE if named.is_dir() else named
    if not file.is_file():
        raise PredtuiError(
            f"{path}: no recorded session here.", f"Give a folder that holds {EVENTS_FILE}, or that file."
        )
    return file


class Recorder:
    """A listener that writes what it hears. On a full disk it says so once and stops; the app goes on."""

    def __init__(self, folder: Path, publish: Publish) -> None:
        """Raises PredtuiError where ``folder`` cannot be made or holds a session already."""
        self.folder = folder
        self._publish = publish
        self._sounds: dict[str, _Sound] = {}
        self._lines: TextIO | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lines = (folder / EVENTS_FILE).open("x", encoding="utf-8", buffering=1)
        except FileExistsError as error:
            raise PredtuiError(f"{folder}: holds a session already.", "Choose another folder.") from error
        except OSError as error:
            raise PredtuiError(f"{folder}: cannot record here: {error}.", "Choose another folder.") from error

    @property
    def recording(self) -> bool:
        return self._lines is not None

    def __call__(self, event: ev.Event) -> None:
        if self._lines is None:
            return
        try:
            print(json.dumps(to_json(event, self._keep(event))), file=self._lines)
        except OSError as error:
            self.close()
            text = f"Recording has stopped: {self.folder}: {error}. What was recorded before can be replayed."
            self._publish(ev.Notice(text=text, severity="warning"))

    def close(self) -> None:
        """Harmless twice."""
        files, self._lines, self._sounds = [self._lines, *self._sounds.values()], None, {}
        for file in files:
            try:
                if file is not None:
                    file.close()
            except OSError:
                continue  # a full disk: what is missing has been reported

    def _keep(self, event: ev.Event) -> dict[str, Any] | None:
        """Write the event's sound to its WAV file; where it lies there. The replies before a new turn are over."""
        if isinstance(event, ev.TurnStarted):
            for name in [name for name in self._sounds if name.startswith("reply-")]:
                self._sounds.pop(name).close()
        if isinstance(event, ev.AudioFrame):
            name = f"input-{event.rate}.wav"
        elif isinstance(event, ev.SpeechChunk):
            name = f"reply-{event.turn}-{event.rate}.wav"
        else:
            return None
        pcm = bytes(event.pcm)
        if not pcm or len(pcm) % 2:
            return inline_sound(pcm)
        if name not in self._sounds:
            self._sounds[name] = _Sound(self.folder / name, event.rate)
        return {"file": name, "offset": self._sounds[name].add(pcm), "samples": len(pcm) // 2}


class _Sound:
    """A mono 16-bit WAV file that is whole after each addition."""

    def __init__(self, path: Path, rate: int) -> None:
        self._file = path.open("wb")
        self._wav = wave.open(self._file, "wb")  # noqa: SIM115 (it lives as long as the recording)
        self._wav.setparams((1, 2, rate, 0, "NONE", ""))

    def add(self, pcm: bytes) -> int:
        """Append ``pcm``; the sample at which it begins."""
        offset = self._wav.tell()
        self._wav.writeframes(pcm)
        self._file.flush()
        return offset

    def close(self) -> None:
        try:
            self._wav.close()
        finally:
            self._file.close()


def read(path: Path) -> Iterator[ev.Event]:
    """The events of a session, in order. A line that cannot be read becomes a Notice that says which and why.

    Raises PredtuiError where there is no session, or its first line is not one's.
    """
    file = find_session(path)
    first: float | None = None
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(iter(lambda: lines.readline(LONGEST_LINE), ""), 1):
                if len(line) == LONGEST_LINE:
                    raise PredtuiError(f"{file}, line {number}: longer than {LONGEST_LINE:,} characters.")
                if line.strip():
                    event = _event(file, number, line, first)
                    first = first or event.time or None
                    yield event
    except OSError as error:
        raise PredtuiError(f"{file}: cannot be read: {error}.") from error


def _event(file: Path, number: int, line: str, first: float | None) -> ev.Event:
    try:
        event = from_json(parse_json(line), lambda place: _sound(file.parent, place))
        if first is not None and event.time and abs(event.time - first) > LONGEST_SESSION:
            raise ValueError(f"time {event.time:g} is days away from the first event's, {first:g}")
        return event
    except ValueError as error:
        problem = f"{file}, line {number}: {str(error)[:_SHOWN]}"
        if number == 1:
            raise PredtuiError(f"{problem}.", "This is no recorded session.") from error
        return ev.Notice(text=f"{problem}; the line is left out.", severity="warning")


def _sound(folder: Path, place: Mapping[str, Any]) -> bytes:
    """PCM out of a WAV file of ours. Raises ValueError where it is not there."""
    name, offset, samples = place["file"], place["offset"], place["samples"]
    if not isinstance(name, str) or type(offset) is not int or type(samples) is not int:
        raise TypeError(f"{place!r} names no sound")
    if Path(name).name != name or offset < 0 or samples < 0 or not (folder / name).is_file():
        raise ValueError(f"{name!r}, offset {offset}, {samples} samples: no sound of this session")
    start, length = _WAV_HEADER + 2 * offset, 2 * samples
    try:
        with open(os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            if file.seek(0, os.SEEK_END) < start + length:
                raise ValueError(f"the sound {name} ends before sample {offset + samples}")
            file.seek(start)
            return file.read(length)
    except OSError as error:
        raise ValueError(f"the sound {name} cannot be read: {error}") from error


def play(
    path: Path, publish: Publish, clock: Clock, speed: float = 1.0, stopped: Callable[[], bool] = lambda: False
) -> None:
    """Publish a session's events at the pace they were recorded, ``speed`` times as fast (0: at once); a pause lasts
    ``LONGEST_PAUSE`` at most."""
    due, last = clock.now(), None
    for event in read(path):
        if event.time and speed > 0:
            due += min(event.time - (event.time if last is None else last), LONGEST_PAUSE * speed) / speed
            last = event.time
            _sleep_until(due, clock, stopped)
        if stopped():
            return
        publish(event)


def _sleep_until(moment: float, clock: Clock, stopped: Callable[[], bool]) -> None:
    while not stopped() and (left := moment - clock.now()) > 0:
        clock.sleep(min(left, 0.1))


class Replay:
    """Drives a screen from a recording, as the pipeline does from life: listeners are called on a thread of its own."""

    def __init__(self, path: Path, clock: Clock | None = None, speed: float = 1.0) -> None:
        """Raises PredtuiError where there is no session, or its first line is not one's."""
        self._path = find_session(path)
        if next(read(self._path), None) is None:
            raise PredtuiError(f"{self._path}: nothing was recorded.", "Choose another session.")
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
