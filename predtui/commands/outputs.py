"""What a command writes at its end, looked at before it begins. Imports nothing heavy."""

from __future__ import annotations

import os
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.files import resolve


def writable(path: Path | None) -> Path | None:
    """``path``, if a file can be written there; for ``typer.Option(callback=...)``. Raises PredtuiError."""
    if path is not None:
        path = resolve(path)
        place = path if os.path.exists(path) else path.parent
        if not os.access(place, os.W_OK) or path.is_dir() or path.is_fifo() or not (place is path or place.is_dir()):
            raise PredtuiError(f"{path} cannot be written.", "Name a file in a folder that exists and is yours.")
    return path


def creatable(path: Path | None) -> Path | None:
    """``path``, if it is a folder that files can be written to, or can become one. Raises PredtuiError."""
    if path is not None:
        path = resolve(path)
        there = next(folder for folder in (path.absolute(), *path.absolute().parents) if os.path.exists(folder))
        if not (there.is_dir() and os.access(there, os.W_OK)):
            raise PredtuiError(f"{path} cannot be written.", "Name a folder that is yours.")
    return path
