"""Landlock, the kernel's way for a process to give up what it may do to files. Knows nothing of stages.

Own code over three system calls: what PyPI offers is a pre-release that knows files alone (landlock), an alpha of one
release line (py-landlock), or a supervisor for whole programs that needs Linux 6.7 (sandlock).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""Numbers of the system calls, the same on every architecture."""
_ASK_VERSION, _PATH_BENEATH = 1, 1
_NO_NEW_PRIVILEGES = 38

EXECUTE, WRITE, READ, LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE, _MAKE, _REFER, _TRUNCATE = 0b11 << 4, 0b11 << 7, 1 << 13, 1 << 14
IOCTL = 1 << 15
"""On devices."""
CHANGE = WRITE | _REMOVE | _MAKE | _REFER | _TRUNCATE
"""Write, make, rename and remove files and folders; no links, sockets or devices."""
_OF_FILES = EXECUTE | WRITE | READ | _TRUNCATE | IOCTL
_FILES = {1: (1 << 13) - 1, 2: _REFER, 3: _TRUNCATE, 5: IOCTL}
"""Version → the rights to files that came with it."""
_PORT = 2
"""The kind of rule that allows one."""
_CONNECT, _TCP, _TCP_SINCE = 0b10, 0b11, 4
"""To connect; to listen and to connect."""
_SCOPES, _SCOPES_SINCE = 0b11, 6
"""Abstract UNIX sockets and signals, of and to processes that are not confined with this one."""


def version() -> int:
    """The version that this kernel has; 0: none."""
    with contextlib.suppress(OSError, AttributeError):
        return _call(_CREATE, None, 0, _ASK_VERSION) if sys.platform == "linux" else 0
    return 0


def restrict(rules: Iterable[tuple[str | Path, int]], tcp: bool, ports: Iterable[int] = ()) -> None:
    """Let this thread, and those that it starts, do to files what ``rules`` say and nothing else: a path, and rights to
    it and all beneath it. Paths that there are not are passed over. ``tcp``: whether it may connect and listen;
    ``ports``: those that it may connect to, where it may not.

    Raises OSError where the kernel has no Landlock, or refuses.
    """
    level = version()
    handled = sum(rights for since, rights in _FILES.items() if since <= level)
    scopes = _SCOPES if level >= _SCOPES_SINCE else 0
    network = _TCP if level >= _TCP_SINCE and not tcp else 0
    attributes = struct.pack("=QQQ", handled, network, scopes)
    ruleset = _call(_CREATE, attributes, len(attributes), 0)
    try:
        for path, rights in rules:
            _allow(ruleset, path, rights & handled)
        for port in ports if network else ():
            _call(_ADD, ruleset, _PORT, struct.pack("=QQ", _CONNECT, port), 0)
        no_new_privileges()
        _call(_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def no_new_privileges() -> None:
    """No program that this process starts has more rights than it. The kernel asks for this first. Raises OSError."""
    if ctypes.CDLL(None, use_errno=True).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def all_but(hidden: Iterable[str]) -> Iterator[str]:
    """The fewest files and folders that are there and hold all but ``hidden``, which are absolute and without links.
    What is made later beside a hidden file belongs to none of them."""
    kept_out = set(hidden)
    yield from _beneath("/", kept_out, {str(parent) for path in kept_out for parent in Path(path).parents})


def _beneath(folder: str, hidden: set[str], above: set[str]) -> Iterator[str]:
    if folder in hidden:
        return
    if folder not in above:
        yield folder
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_symlink():  # what it leads to is held, or hidden, where it lies
                yield from _beneath(entry.path, hidden, above)


def _allow(ruleset: int, path: str | Path, rights: int) -> None:
    if sys.platform != "linux":
        return
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _OF_FILES
        if rights:
            _call(_ADD, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        os.close(place)


def _call(number: int, *arguments: bytes | int | None) -> int:
    system = ctypes.CDLL(None, use_errno=True).syscall
    system.restype = ctypes.c_long
    numbers = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    result = int(system(ctypes.c_long(number), *numbers))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
