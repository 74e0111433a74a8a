"""Recorded sessions: every event a JSON line, every sound in a WAV file beside them; read back, and played once.

A session is a folder with ``session.jsonl``, ``input-RATE.wav``, ``over-RATE.wav`` (what was said over replies) and one
``reply-TURN-RATE.wav`` a reply. Folding what is read gives the Turn that was seen live. Must not know who listens to a
replay.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from predtui.clock import Clock
from predtui.errors import PredtuiError, reason
from predtui.files import parse_json, resolve
from predtui.state import events as ev
from predtui.state.codec import from_json
from predtui.state.recorder import EVENTS_FILE, MACHINE_FILE
from predtui.state.sound import Clip, Sound
from predtui.state.tape import Pace

_WAV_HEADER = 44
_READING: int = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
"""No link is followed; nor, on Windows, is any byte taken for the end of a line."""
LONGEST_LINE = 1 << 25
"""Characters of one event, its sound included where that stands in the line."""
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


def read(path: Path, lazily: bool = False) -> Iterator[ev.Event]:
    """The events of a session, in order. A line that cannot be read becomes a Notice that says which and why.
    ``lazily``: sounds stay in their files until somebody wants to hear them.

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
                    event = _event(file, number, line, first, begun, lazily)
                    first, begun = first or event.time or None, True
                    yield event
    except OSError as error:
        raise PredtuiError(f"{file}: cannot be read: {reason(error)}.") from error


def _event(file: Path, number: int, line: str, first: float | None, begun: bool, lazily: bool) -> ev.Event:
    """``begun``: whether anything sensible came before. Raises PredtuiError where nothing did, nor is this."""
    try:
        event = from_json(_parsed(line), lambda place: _sound(file.parent, place, lazily))
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


def _sound(folder: Path, place: Mapping[str, Any], lazily: bool) -> Sound:
    """PCM out of a WAV file of ours. Raises ValueError where it is not there."""
    name, offset, samples = place["file"], place["offset"], place["samples"]
    if not isinstance(name, str) or type(offset) is not int or type(samples) is not int:
        raise TypeError(f"{place!r} names no sound")
    if Path(name).name != name or offset < 0 or samples < 0 or not (folder / name).is_file():
        raise ValueError(f"{name!r}, offset {offset}, {samples} samples: no sound of this session")
    source = _Wav(folder / name)
    clip = Clip(0, _WAV_HEADER + 2 * offset, 2 * samples, source)
    try:
        if source.length() < clip.start + clip.length:
            raise ValueError(f"the sound {name} ends before sample {offset + samples}")
        return clip if lazily else source.fetch(clip)
    except OSError as error:
        raise ValueError(f"the sound {name} cannot be read: {reason(error)}") from error


@dataclass(frozen=True, slots=True)
class _Wav:
    """A file of sound in which clips lie. All but ``read`` raise OSError."""

    path: Path

    def length(self) -> int:
        with open(os.open(self.path, _READING), "rb") as file:
            return file.seek(0, os.SEEK_END)

    def fetch(self, clip: Clip) -> bytes:
        with open(os.open(self.path, _READING), "rb") as file:
            file.seek(clip.start)
            return file.read(clip.length)

    def read(self, clip: Clip) -> bytes:
        try:
            return self.fetch(clip).ljust(clip.length, b"\0")
        except OSError:
            return bytes(clip.length)


def recorded_on(path: Path) -> str:
    """The machine of a session, in a line; empty where that is not told. Raises PredtuiError where there is none."""
    try:
        with (find_session(path).parent / MACHINE_FILE).open(encoding="utf-8", errors="replace") as file:
            return file.readline(_SHOWN).strip()
    except OSError:
        return ""


def play(path: Path, publish: Publish, clock: Clock, speed: float = 1.0) -> None:
    """Publish a session's events at the pace they were recorded, ``speed`` times as fast; a pause lasts
    ``LONGEST_PAUSE`` seconds of it at most. Raises PredtuiError as ``read`` does, and where nothing was recorded."""
    due, pace, nothing = clock.now(), Pace(), True
    for event in read(path):
        nothing = False
        due += pace.step(event) / speed
        clock.sleep(max(0.0, due - clock.now()))
        publish(event)
    if nothing:
        raise empty(path)


def empty(path: Path) -> PredtuiError:
    """There is a session, and nothing in it."""
    return PredtuiError(f"{path}: nothing was recorded.", "Choose another session.")
