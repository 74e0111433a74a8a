"""What a command reads, looked at before it begins. Imports nothing heavy."""

from __future__ import annotations

from pathlib import Path

from predtui import files


def regular(path: Path | None) -> Path | None:
    """``path``, if it is a file that can be read again and again; for ``typer.Option(callback=...)``. Raises
    PredtuiError."""
    return None if path is None else files.regular_file(path)


def existing(path: Path | None) -> Path | None:
    """``path``, if there is a file or a folder; for ``typer.Option(callback=...)``. Raises PredtuiError."""
    return None if path is None else files.existing(path)
