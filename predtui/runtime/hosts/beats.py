"""What a stage's process says of itself, several times a second, in memory that the app reads whenever it likes.

A beat is no event: it passes no pipe, waits for no reader, and costs a write of a few bytes. Must not know what is made
of it.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import weakref
from dataclasses import dataclass

from predtui.system.together import nameless, pread, pwrite

BEAT_S = 0.25
DOINGS = ("opening", "idle", "working")
"""What a stage does: it is being opened, waits for an event, or handles one."""
_FORM = struct.Struct("<QQQd")


@dataclass(frozen=True, slots=True)
class Beat:
    """``count`` grows while the process runs Python, ``steps`` whenever its stage shows that it goes on. ``allowed``:
    seconds that a step may take, by what the stage knows of its own work."""

    count: int = 0
    steps: int = 0
    doing: str = DOINGS[0]
    allowed: float = 0.0


class Beats:
    """One small file without a name for all stages; each has a place in it, which it keeps through restarts."""

    def __init__(self, file: int = -1) -> None:
        """``file``: the descriptor of an existing one, inherited; without it one is made, and closed with this object.
        Raises OSError where it cannot be made."""
        self.file = file if file >= 0 else nameless("predtui-beats")
        self._places = 0
        if file < 0:
            weakref.finalize(self, os.close, self.file).atexit = False  # a thread may still read while the program ends

    def place(self) -> int:
        """A new one."""
        self._places += 1
        return self._places

    def write(self, place: int, beat: Beat) -> None:
        """Nothing is written where there is no room for it."""
        data = _FORM.pack(beat.count, beat.steps, DOINGS.index(beat.doing), beat.allowed)
        with contextlib.suppress(OSError):
            pwrite(self.file, data, place * _FORM.size)

    def read(self, place: int) -> Beat:
        data = pread(self.file, _FORM.size, place * _FORM.size)
        if len(data) < _FORM.size:
            return Beat()
        count, steps, doing, allowed = _FORM.unpack(data)
        return Beat(count, steps, DOINGS[doing], allowed)


class Heart:
    """Beats for one stage, from its own process. Without ``beats`` nobody listens."""

    def __init__(self, beats: Beats | None = None, place: int = 0) -> None:
        self._beats, self._place = beats, place
        self._count = self._steps = 0
        self._doing, self._allowed = DOINGS[0], 0.0

    def start(self) -> None:
        """Beat from now on, for as long as the process lives."""
        if self._beats is not None:
            threading.Thread(target=self._run, name="heart", daemon=True).start()

    def step(self) -> None:
        """The stage goes on."""
        self._steps += 1

    def turn_to(self, doing: str) -> None:
        """The stage does something else from now on."""
        self._steps += 1
        self._doing = doing
        self._write()

    def allow(self, seconds: float) -> None:
        """A step may take so long from now on."""
        self._allowed = seconds
        self._write()

    def _run(self) -> None:
        pause = threading.Event()
        while True:
            self._count += 1
            self._write()
            pause.wait(BEAT_S)

    def _write(self) -> None:
        if self._beats is not None:
            self._beats.write(self._place, Beat(self._count, self._steps, self._doing, self._allowed))
