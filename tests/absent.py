"""Packages as if they were not installed."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest


def hide(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """From now on nobody finds ``modules``; what is imported already stays."""
    found = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> Any:
        return None if name in modules else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
