"""Where sound lies on its way from stage to stage: files without a name that all stage processes share.

A stage's process writes its PCM here and sends a ``Clip`` in its place; the process of the stage that hears it reads it
here. So no sound passes through the screen's process, and a stage that died can be given the turn's sound once more.
Must not know stages, nor how events travel.

There are two files, one for even and one for odd turns: a turn's sound is kept until the turn after the next one makes
some. Nameless files need no cleaning up: they are gone with the last process that has them open.
"""

from __future__ import annotations

import errno
import os
import struct
import weakref
from collections.abc import Sequence
from dataclasses import replace

from predtui.state.events import AudioFrame, Event, Overheard, SpeechChunk
from predtui.state.sound import Clip
from predtui.system.together import locked, nameless, pread, pwrite

LIMIT = 128 * 2**20
"""Bytes of sound kept of a turn: over an hour of what is said, half an hour of a reply."""
_TURN = struct.Struct("<q")
"""A file begins with the number of its turn."""


class SoundStore:
    """Any process may write and read. Not for two threads of a process at a time, where they write."""

    def __init__(self, files: Sequence[int] = (), limit: int = LIMIT) -> None:
        """``files``: descriptors of an existing store, inherited; without them a new one is made, and closed with this
        object. Raises OSError where it cannot be made."""
        self.files = tuple(files) or (nameless("predtui-sound"), nameless("predtui-sound"))
        self._limit = limit
        if not files:
            weakref.finalize(self, _close, self.files).atexit = False  # a thread may still write while the program ends

    def put(self, turn: int, pcm: bytes) -> Clip:
        """Keep ``pcm`` of ``turn``; a clip of no length where the turn is too old to be heard of any more.

        Raises OSError where there is no room, and then keeps nothing.
        """
        file = self.files[turn % 2]
        with locked(file):
            kept = _turn(file)
            if kept > turn:
                return Clip(turn, 0, 0, self)
            if kept < turn:
                os.ftruncate(file, 0)
                _write(file, _TURN.pack(turn), 0)
            start = os.fstat(file).st_size
            if start + len(pcm) > self._limit:
                raise OSError(errno.ENOSPC, f"{self._limit >> 20} MB of this turn are kept already")
            _write(file, pcm, start)
        return Clip(turn, start, len(pcm), self)

    def read(self, clip: Clip) -> bytes:
        """The sound of ``clip``; as much silence where its turn is no longer kept."""
        file = self.files[clip.turn % 2]
        pcm = pread(file, clip.length, clip.start)
        return pcm if len(pcm) == clip.length and _turn(file) == clip.turn else bytes(clip.length)

    def stored(self, event: Event) -> Event:
        """``event`` with a clip in place of its sound. Raises OSError as ``put`` does."""
        if isinstance(event, AudioFrame | Overheard | SpeechChunk) and event.pcm:
            return replace(event, pcm=self.put(event.turn, bytes(event.pcm)))
        return event

    def fetched(self, event: Event) -> Event:
        """``event`` with its sound in place of a clip."""
        if isinstance(event, AudioFrame | Overheard | SpeechChunk) and isinstance(event.pcm, Clip):
            return replace(event, pcm=self.read(event.pcm))
        return event

    def claimed(self, event: Event) -> Event:
        """``event`` as it has come from another process, with a clip that can be fetched from here."""
        if isinstance(event, AudioFrame | Overheard | SpeechChunk) and isinstance(event.pcm, Clip):
            return replace(event, pcm=replace(event.pcm, source=self))
        return event


def _close(files: Sequence[int]) -> None:
    for file in files:
        os.close(file)


def _turn(file: int) -> int:
    """Whose sound the file holds; -1: nobody's yet."""
    head = pread(file, _TURN.size, 0)
    return int(_TURN.unpack(head)[0]) if len(head) == _TURN.size else -1


def _write(file: int, data: bytes, start: int) -> None:
    """All of it or nothing. Raises OSError."""
    try:
        if pwrite(file, data, start) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        os.ftruncate(file, start)
        raise
