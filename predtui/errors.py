"""The one exception a person is meant to read. Knows nothing of who raises it."""

from __future__ import annotations


class PredtuiError(Exception):
    """Its message says what is wrong and where, ``remedy`` what to do. Shown as a line, never as a traceback."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} {self.remedy}".rstrip() if self.remedy else message

    def __reduce__(self) -> tuple[type[PredtuiError], tuple[str, str]]:
        return (type(self), (super().__str__(), self.remedy))
