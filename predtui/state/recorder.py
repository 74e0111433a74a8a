"""Recording a session: every event a JSON line, every sound in a WAV file beside them, on a thread of its own.

A slow disk holds up nobody but that thread, and a full one is told of once. Must not know how a session is read.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
import wave
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from predtui.errors import PredtuiError
from predtui.settings import state_folder
from predtui.state import events as ev
from predtui.state.codec import inline_sound, to_json
from predtui.system.machine import machine

EVENTS_FILE = "session.jsonl"
MACHINE_FILE = "machine.txt"
"""What the session was recorded on, in a line."""
BEHIND = 64 * 2**20
"""Bytes of events that may wait for the disk: half an hour of sound."""
PATIENCE_S = 5.0
"""For what waits when the recording is closed."""
_EVENT = 1000
"""Bytes of an event beside its sound, about."""
Publish = Callable[[ev.Event], None]


def new_session_folder() -> Path:
    """Where the next session goes, by the time of day; not yet made."""
    return state_folder() / "sessions" / datetime.now().strftime("%Y-%m-%d-%H%M%S-%f")


class Recorder:
    """A listener that writes what it hears. On a full disk, or one that falls far behind, it says so once and stops;
    the app goes on."""

    def __init__(self, folder: Path, publish: Publish) -> None:
        """Raises PredtuiError where ``folder`` cannot be made or holds a session already."""
        self.folder = folder
        self._publish = publish
        self._files: _Files | None = _Files(folder)
        self._waiting: queue.SimpleQueue[ev.Event | None] = queue.SimpleQueue()
        self._behind, self._lock = 0, threading.Lock()
        self._thread = threading.Thread(target=self._write, args=(self._files,), name="recorder", daemon=True)
        self._thread.start()

    @property
    def recording(self) -> bool:
        return self._files is not None

    @property
    def behind(self) -> int:
        """Bytes that are not written yet, about."""
        return self._behind

    def __call__(self, event: ev.Event) -> None:
        """Returns at once."""
        if self._files is None:
            return
        if isinstance(event, ev.AudioFrame | ev.Overheard | ev.SpeechChunk):
            event = replace(event, pcm=bytes(event.pcm))  # where it lies, it does not stay
        if self._grow(_size(event)) > BEHIND:
            self._stop("the disk is too slow.")
        else:
            self._waiting.put(event)

    def close(self) -> bool:
        """Whether all was written within a few seconds. Harmless twice."""
        self._waiting.put(None)
        self._thread.join(PATIENCE_S)
        self._files = None
        return not self._thread.is_alive()

    def _write(self, files: _Files) -> None:
        """In the thread, until there is no more."""
        try:
            while (event := self._waiting.get()) is not None:
                if self._files is not None:
                    files.write(event)
                self._grow(-_size(event))
        except OSError as error:
            self._stop(f"{error}.")
        finally:
            files.close()

    def _grow(self, size: int) -> int:
        with self._lock:
            self._behind += size
            return self._behind

    def _stop(self, why: str) -> None:
        self._files = None
        self._waiting.put(None)
        text = f"Recording has stopped: {self.folder}: {why} What was recorded before can be replayed."
        self._publish(ev.Notice(text=text, severity="warning"))


def _size(event: ev.Event) -> int:
    return _EVENT + (len(event.pcm) if isinstance(event, ev.AudioFrame | ev.Overheard | ev.SpeechChunk) else 0)


class _Files:
    """Of a session: its lines, and a file for what was said and for each reply. Each method but ``close`` raises
    OSError."""

    def __init__(self, folder: Path) -> None:
        """Raises PredtuiError as the recorder does."""
        self._folder = folder
        self._sounds: dict[str, _Sound] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lines: TextIO = (folder / EVENTS_FILE).open("x", encoding="utf-8", buffering=1)
            (folder / MACHINE_FILE).write_text(f"{machine()}\n", encoding="utf-8")
        except FileExistsError as error:
            raise PredtuiError(f"{folder}: holds a session already.", "Choose another folder.") from error
        except OSError as error:
            raise PredtuiError(f"{folder}: cannot record here: {error}.", "Choose another folder.") from error

    def write(self, event: ev.Event) -> None:
        print(json.dumps(to_json(event, self._keep(event))), file=self._lines)

    def close(self) -> None:
        files: list[TextIO | _Sound] = [self._lines, *self._sounds.values()]
        for file in files:
            with contextlib.suppress(OSError):  # a full disk: what is missing has been reported
                file.close()

    def _keep(self, event: ev.Event) -> dict[str, Any] | None:
        """Write the event's sound to its WAV file; where it lies there. The replies before a new turn are over."""
        if isinstance(event, ev.TurnStarted):
            for name in [name for name in self._sounds if name.startswith("reply-")]:
                self._sounds.pop(name).close()
        if isinstance(event, ev.AudioFrame):
            name = f"input-{event.rate}.wav"
        elif isinstance(event, ev.Overheard):
            name = f"over-{event.rate}.wav"
        elif isinstance(event, ev.SpeechChunk):
            name = f"reply-{event.turn}-{event.rate}.wav"
        else:
            return None
        pcm = bytes(event.pcm)
        if not pcm or len(pcm) % 2:
            return inline_sound(pcm)
        if name not in self._sounds:
            self._sounds[name] = _Sound(self._folder / name, event.rate)
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
