"""What ended a process, told by its exit status, and how to end with what is done so far. Knows no process in
particular."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

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
    """A process that ends so "was killed by SIGSEGV", or "ended with exit status 1". The system kills by SIGKILL what
    takes too much memory."""
    if signal_name(returncode) == "SIGKILL":
        return "was killed by SIGKILL (memory may have run out)"
    return f"was killed by {name}" if (name := signal_name(returncode)) else f"ended with exit status {returncode}"


@contextmanager
def undivided() -> Iterator[None]:
    """Inside, SIGINT and SIGTERM wait: what has begun is done before they do what they do. Main thread only."""
    waiting: list[int] = []
    with _handled((signal.SIGINT, signal.SIGTERM), lambda number, _frame: waiting.append(number)):
        yield
    if waiting:
        signal.raise_signal(waiting[0])


@contextmanager
def terminate_as_interrupt() -> Iterator[None]:
    """Inside, SIGTERM is a KeyboardInterrupt with its number, so that a polite kill saves as Ctrl-C does. Main thread
    only."""

    def interrupt(number: int, _frame: object) -> None:
        raise KeyboardInterrupt(number)

    with _handled((signal.SIGTERM,), interrupt):
        yield


@contextmanager
def _handled(numbers: Sequence[signal.Signals], handler: Callable[[int, object], object]) -> Iterator[None]:
    """Inside, these signals are ``handler``'s, but in another thread than the main one, where they are somebody
    else's."""
    try:
        previous = [(number, signal.signal(number, handler)) for number in numbers]
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        for number, former in previous:
            signal.signal(number, former)
