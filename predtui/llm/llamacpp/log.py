"""What llama.cpp says goes to the log, not to the screen; its last complaint is kept for error messages.

Knows only the library's logging and start-up.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import os
import weakref
from typing import Any

import llama_cpp

from predtui.llm.halt import Halt

_WARN, _ERROR = 3, 4
"""GGML_LOG_LEVEL_WARN and _ERROR of ggml.h (the Python package numbers them otherwise in a comment). What is less, the
library's information, is a developer's."""
_log = logging.getLogger("predtui.llamacpp")
_log.addHandler(logging.NullHandler())  # where nobody logs, it is not for the terminal
_errors: list[str] = []
_halts: list[weakref.ref[Halt]] = []


def _receive(level: int, text: bytes, _data: Any) -> None:
    line = text.decode("utf-8", errors="replace").strip()
    if level == _ERROR and line:
        _errors[:] = [*_errors[-7:], line]
    if line:
        halted = any(halt is not None and halt.on for halt in (known() for known in _halts))
        _log.log(logging.WARNING if level in (_WARN, _ERROR) and not halted else logging.DEBUG, line)


_callback = llama_cpp.llama_log_callback(_receive)
"""Kept here because the library keeps only its address."""


@functools.cache
def initialise() -> None:
    """Start the library, once a process, with its log turned to ours, and products of K-quantised weights computed
    alike for few tokens and for many: its kernel for many sums in another order."""
    os.environ.setdefault("GGML_CPU_TILED_MM", "0")
    llama_cpp.llama_log_set(_callback, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()


def expect(halt: Halt) -> None:
    """While ``halt`` is set, complaints are of forwards that were ended on purpose: not for the log that users read."""
    _halts[:] = [*(known for known in _halts if known() is not None), weakref.ref(halt)]


def forget_errors() -> None:
    """What was complained of is known, and no failure."""
    _errors.clear()


def last_error() -> str:
    """The cause of the last failure in the library's words: the first line of the complaints since the last call."""
    cause = _errors[0] if _errors else "it gives no reason"
    _errors.clear()
    return cause.rstrip(".")
