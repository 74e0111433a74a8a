"""Nameless files that several processes read and write, each at a place of its own. Must not know what is in them.

Where the system has no such files, as Windows, making one raises OSError, and who asked does without.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator

__all__ = ["locked", "nameless", "pread", "pwrite"]

if sys.platform == "win32":

    def nameless(name: str) -> int:
        """Raises OSError."""
        raise OSError(errno.ENOSYS, f"no nameless file for {name} on this system")

    def pread(file: int, length: int, start: int) -> bytes:
        """Raises OSError."""
        raise OSError(errno.ENOSYS, f"cannot read {length} bytes of {file} at {start} on this system")

    def pwrite(file: int, data: bytes, start: int) -> int:
        """Raises OSError."""
        raise OSError(errno.ENOSYS, f"cannot write {len(data)} bytes of {file} at {start} on this system")

    @contextlib.contextmanager
    def locked(file: int) -> Iterator[None]:
        """Raises OSError."""
        raise OSError(errno.ENOSYS, f"cannot lock {file} on this system")
        yield
else:
    import fcntl
    from os import pread, pwrite

    def nameless(name: str) -> int:
        """A file in no folder, in memory where the system can, and then called ``name`` in listings. Raises OSError."""
        if sys.platform == "linux":
            with contextlib.suppress(AttributeError, OSError):
                return os.memfd_create(name)
        import tempfile

        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())

    @contextlib.contextmanager
    def locked(file: int) -> Iterator[None]:
        """Against other processes; one that dies lets go."""
        fcntl.lockf(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(file, fcntl.LOCK_UN)
