"""Typed lines that wait until the reply before them has been heard. Pure; must not know why they wait."""

from __future__ import annotations

from collections import deque

from predtui.runtime.typing import Typed


class Backlog:
    """Lines in order of typing. Of the line that is still being edited only its last state is kept."""

    def __init__(self) -> None:
        self._lines: deque[Typed] = deque()

    def __bool__(self) -> bool:
        return bool(self._lines)

    def put(self, typed: Typed) -> None:
        """The state after a key, or the end, of the newest line."""
        if self._lines and not self._lines[-1].final:
            self._lines.pop()
        self._lines.append(typed)

    def take(self) -> Typed:
        """The oldest line. Raises IndexError where nothing waits."""
        return self._lines.popleft()

    @property
    def texts(self) -> tuple[str, ...]:
        """Of the lines that wait to be answered."""
        return tuple(line.text.strip() for line in self._lines if line.final)
