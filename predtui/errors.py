"""The one exception a person is meant to read. Knows nothing of who raises it."""

from __future__ import annotations

FREE_MEMORY = "Free some memory, or choose a smaller model."
_NO_ROOM = ("annot allocate memory", "failed to map segment from shared object")
"""What the system says of a library or an array that it has no room for."""


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


def described(error: BaseException) -> str:
    """``error`` in one line: its kind, and what it says, where it says anything."""
    said = (str(error).splitlines() or [""])[0].rstrip(".")
    kind = "memory has run out" if starved(error) else type(error).__name__
    return f"{kind}: {said}" if said else kind


def starved(error: BaseException) -> bool:
    """Whether it says that there is no memory left."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _NO_ROOM)


def reason(error: Exception) -> str:
    """Why a file cannot be read: in the system's own words, without its number and the path again."""
    return str(getattr(error, "strerror", None) or error)
