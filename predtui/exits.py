"""What ended a process, told by its exit status. Knows no process in particular."""

from __future__ import annotations

import signal

FAULTS = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT")
"""Signals that a process brings upon itself; others are sent by somebody, and say nothing of what it does."""
FOREIGN = "SIGILL"
"""The one of an instruction that this processor does not have: the code was compiled for another."""


def signal_name(returncode: int) -> str:
    """The signal that ended a process, as "SIGSEGV"; empty where none did. ``returncode`` is negative for a signal, as
    subprocess has it."""
    if returncode >= 0:
        return ""
    try:
        return signal.Signals(-returncode).name
    except ValueError:
        return f"signal {-returncode}"


def ending(returncode: int) -> str:
    """A process that ends so "was killed by SIGSEGV", or "ended with exit status 1"."""
    return f"was killed by {name}" if (name := signal_name(returncode)) else f"ended with exit status {returncode}"
