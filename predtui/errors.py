"""The one exception a person is meant to read. Knows nothing of who raises it."""

from __future__ import annotations


class PredtuiError(Exception):
    """Its message says what is wrong and where, ``remedy`` what to do. Shown as a line, never as a traceback."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".rstrip()

    def __reduce__(self) -> tuple[type[PredtuiError], tuple[str, str]]:
        return (type(self), (self.message, self.remedy))


def described(error: Exception) -> str:
    """``error`` in one line: its kind, and what it says, where it says anything."""
    said = (str(error).splitlines() or [""])[0].rstrip(".")
    kind = "memory has run out" if isinstance(error, MemoryError) else type(error).__name__
    return f"{kind}: {said}" if said else kind
