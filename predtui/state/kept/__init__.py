"""Conversations that are kept: where, by whom, and as what they are taken along."""

from __future__ import annotations

from pathlib import Path

from predtui.settings import data_folder


def kept_file() -> Path:
    """In a folder of its own, which no stage may read."""
    return data_folder() / "conversations" / "conversations.db"
