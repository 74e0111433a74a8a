"""seccomp, the kernel's way for a process to give up system calls. Knows nothing of stages.

Own code, for a filter of some twenty calls: pyseccomp has had no release since 2021, and needs a library of the system.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from dataclasses import dataclass

from predtui.system.landlock import no_new_privileges

_SET, _GET, _FILTER = 22, 21, 2
"""Of prctl."""
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
"""Instructions of the filter: load a word, skip if it is equal, or at least; answer."""
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
"""Where these words stand in what the kernel tells of a call."""
_LOCAL = 1
"""Linux's number of the family of UNIX sockets."""
_X32 = 0x40000000
"""From here on, numbers are those of another interface of the same processor."""


@dataclass(frozen=True, slots=True)
class _Calls:
    """Numbers of system calls. ``never``: others' memory and descriptors (ptrace, process_vm_readv, process_vm_writev,
    pidfd_getfd), ways around this filter and around paths (io_uring_setup, open_by_handle_at), the kernel's keys
    (add_key, request_key, keyctl), and what a stage has no use for (bpf, perf_event_open, userfaultfd)."""

    machine: int
    socket: int
    programs: tuple[int, ...]
    never: tuple[int, ...]


_CALLS = {
    "x86_64": _Calls(0xC000003E, 41, (59, 322), (101, 310, 311, 438, 425, 304, 248, 249, 250, 321, 298, 323)),
    "aarch64": _Calls(0xC00000B7, 198, (221, 281), (117, 270, 271, 438, 425, 265, 217, 218, 219, 280, 241, 282)),
}


def available() -> bool:
    """Whether this kernel has it, and the processor is one whose calls are known here."""
    if not sys.platform.startswith("linux") or _calls() is None:
        return False
    return bool(_prctl(_SET, _FILTER, None) == errno.EFAULT)


def restrict(local_sockets: bool, any_sockets: bool, programs: bool) -> None:
    """Refuse this thread, and those that it starts, to open sockets, other than UNIX ones with ``local_sockets``,
    unless ``any_sockets``; to start programs, unless ``programs``; and what no stage does. Raises OSError."""
    calls = _calls()
    if calls is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    refused = [*calls.never, *(() if programs else calls.programs)]
    if not any_sockets and not local_sockets:
        refused.append(calls.socket)
    program = [*_of_machine(calls.machine), *(line for number in refused for line in _refuse(number))]
    if local_sockets and not any_sockets:
        program += _only_local(calls.socket)
    program.append(_line(_RETURN, _ALLOW))
    no_new_privileges()
    code = ctypes.create_string_buffer(b"".join(program))
    about = struct.pack("@HP", len(program), ctypes.addressof(code))
    if failure := _prctl(_SET, _FILTER, about):
        raise OSError(failure, os.strerror(failure))


def _calls() -> _Calls | None:
    return _CALLS.get(platform.machine()) if sys.maxsize > 2**32 else None


def _line(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    """One instruction. ``then`` and ``otherwise``: how many of the next to skip."""
    return struct.pack("=HBBI", code, then, otherwise, value)


def _refuse(number: int) -> list[bytes]:
    return [_line(_EQUAL, number, 0, 1), _line(_RETURN, _REFUSE | errno.EACCES)]


def _of_machine(machine: int) -> list[bytes]:
    """Calls of another machine's interface are refused; then the number is loaded."""
    refuse = _line(_RETURN, _REFUSE | errno.EACCES)
    return [
        _line(_LOAD, _MACHINE), _line(_EQUAL, machine, 1, 0), refuse,
        _line(_LOAD, _NUMBER), _line(_AT_LEAST, _X32, 0, 1), refuse,
    ]  # fmt: skip


def _only_local(number: int) -> list[bytes]:
    return [
        _line(_EQUAL, number, 0, 4),
        _line(_LOAD, _FIRST_ARGUMENT),
        _line(_EQUAL, _LOCAL, 1, 0),
        _line(_RETURN, _REFUSE | errno.EACCES),
        _line(_RETURN, _ALLOW),
    ]


def _prctl(option: int, mode: int, about: bytes | None) -> int:
    """An error's number; 0: none."""
    call = ctypes.CDLL(None, use_errno=True).prctl
    result = call(ctypes.c_int(option), ctypes.c_ulong(mode), about, ctypes.c_ulong(0), ctypes.c_ulong(0))
    return ctypes.get_errno() if result else 0
