"""A flag that ends a forward under way: a byte in memory, which an engine's own threads can read.

Must not know who sets it, or why.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable


class Halt:
    """A ``Stale`` that lasts from ``set`` to ``clear``. Engines that can look at it within a forward raise Preempted
    there, with what they remembered before it; others do so between forwards."""

    def __init__(self, asked: Callable[[], object] = bool) -> None:
        """``asked``: told whenever an engine asks, as it does between the chunks of a long evaluation."""
        self._asked = asked
        self.also: Callable[[], bool] = bool
        """Whether it is set for another reason; looked at by engines that ask, as those do that wait."""
        self._byte = ctypes.create_string_buffer(2)

    def __call__(self) -> bool:
        self._asked()
        return self.on

    @property
    def on(self) -> bool:
        """Whether it is set; nobody is told that this was asked."""
        return self._byte[0] != b"\0" or self.also()

    @property
    def address(self) -> int:
        """Of the byte, which is not 0 while the flag is set, and of a 0 behind it; valid while this object lives."""
        return ctypes.addressof(self._byte)

    def set(self) -> None:
        self._byte[0] = b"\1"

    def clear(self) -> None:
        self._byte[0] = b"\0"
