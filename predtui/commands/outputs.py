"""Files that a command writes at its end, looked at before it begins. Imports nothing heavy."""

from __future__ import annotations

import os
from pathlib import Path

from predtui.errors import PredtuiError


def writable(path: Path | None) -> Path | None:
    """``path``, if a file can be written there; for ``typer.Option(callback=...)``. Raises PredtuiError."""
    if path is not None and (path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK)):
        raise PredtuiError(f"{path} cannot be written.", "Name a file in a folder that exists and is yours.")
    return path
