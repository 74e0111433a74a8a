"""Reads a file into the system's memory, piece by piece, before llama.cpp maps it: mapping reads all that is not there
yet in one call, of which nobody sees how far it is, and which nobody can end.

Must not know what is in the file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from predtui.llm.base import Told

_PIECE = 8 << 20


def read_ahead(paths: Sequence[Path], told: Told) -> bool:
    """``told`` hears bytes that are there, and how many there are in all; once it says no, that is the answer. Raises
    OSError where a file cannot be read."""
    sizes = [path.stat().st_size for path in paths]
    total, done = sum(sizes), 0
    for path, size in zip(paths, sizes, strict=True):
        for length in _pieces(path, size):
            done += length
            if not told(done, total):
                return False
    return True


def _pieces(path: Path, size: int) -> Iterator[int]:
    """Lengths of the pieces of a file, each of which has been read."""
    buffer = memoryview(bytearray(min(size, _PIECE)))
    with path.open("rb", buffering=0) as file:
        for start in range(0, size, _PIECE):
            length = min(_PIECE, size - start)
            if not _there(file.fileno(), start, length):
                file.seek(start)
                file.readinto(buffer[:length])
            yield length


def _there(file: int, start: int, length: int) -> bool:
    """Whether a piece seems to be in memory, by its ends; True where the system does not tell, but on Windows."""
    if sys.platform == "win32":
        return False
    try:
        return all(os.preadv(file, [bytearray(1)], at, _NOW) for at in (start, start + length - 1))
    except BlockingIOError:
        return False
    except OSError:
        return True


_NOW = getattr(os, "RWF_NOWAIT", 0)
"""Only what is in memory; where there is no such flag, one byte is read, which is soon done."""
