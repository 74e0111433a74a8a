"""Flags that end a forward under way: one at once, a byte in memory, which an engine's own threads can read; and one
between its pieces, where nothing of it is lost.

Must not know who sets them, or why.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable


class Halt:
    """A ``Stale`` that lasts from ``set`` to ``clear``, or while it is ``overtaken``. It is asked between the pieces of
    a long forward, and by what waits for a network; engines that can look within a piece, too, raise Preempted there
    where it is ``on``, with what they remembered before that piece."""

    def __init__(self, asked: Callable[[], object] = bool) -> None:
        """``asked``: told whenever an engine asks, as it does between the chunks of a long evaluation."""
        self._asked = asked
        self.also: Callable[[], bool] = bool
        """Whether it is set for another reason; looked at by engines that ask, as those do that wait."""
        self.overtaken = False
        """Whether it is set for what asks between pieces alone."""
        self._byte = ctypes.create_string_buffer(2)

    def __call__(self) -> bool:
        return self.within() or self.overtaken

    def within(self) -> bool:
        """Whether it is set for what is within a piece."""
        self._asked()
        return self.on

    @property
    def on(self) -> bool:
        """As ``within``; nobody is told that this was asked."""
        return self._byte[0] != b"\0" or self.also()

    @property
    def address(self) -> int:
        """Of the byte, which is not 0 while the flag is set, and of a 0 behind it; valid while this object lives."""
        return ctypes.addressof(self._byte)

    def set(self) -> None:
        self._byte[0] = b"\1"

    def clear(self) -> None:
        self._byte[0] = b"\0"
