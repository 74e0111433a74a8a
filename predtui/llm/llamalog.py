"""What llama.cpp says goes to the log, not to the screen; its last complaint is kept for error messages.

Knows only the library's logging and start-up.
"""

from __future__ import annotations

import ctypes
import functools
import logging
from typing import Any

import llama_cpp

_LEVELS = {1: logging.DEBUG, 2: logging.DEBUG, 3: logging.WARNING, 4: logging.DEBUG, 5: logging.DEBUG}
"""llama.cpp's INFO, WARN, ERROR, DEBUG, CONTINUED. Its information is a developer's."""
_ERROR = 3
_log = logging.getLogger("predtui.llamacpp")
_errors: list[str] = []


def _receive(level: int, text: bytes, _data: Any) -> None:
    line = text.decode("utf-8", errors="replace").strip()
    if level == _ERROR and line:
        _errors[:] = [*_errors[-7:], line]
    if line:
        _log.log(_LEVELS.get(level, logging.DEBUG), line)


_callback = llama_cpp.llama_log_callback(_receive)
"""Kept here because the library keeps only its address."""


@functools.cache
def initialise() -> None:
    """Start the library, once a process, with its log turned to ours."""
    llama_cpp.llama_log_set(_callback, ctypes.c_void_p(0))
    llama_cpp.llama_backend_init()


def last_error() -> str:
    """The cause of the last failure in the library's words: the first line of the complaints since the last call."""
    cause = _errors[0] if _errors else "it gives no reason"
    _errors.clear()
    return cause.rstrip(".")
