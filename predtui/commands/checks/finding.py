"""One line of the doctor's: what was looked for, whether it is here, and what to do if not."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from dataclasses import dataclass
from typing import Literal

State = Literal["found", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``needed``: whether a typed turn cannot work without it."""

    subject: str
    state: State
    detail: str
    remedy: str = ""
    needed: bool = False


def package_finding(subject: str, distribution: str, module: str, remedy: str = "", needed: bool = False) -> Finding:
    """Whether a distribution is installed, by the module that it brings."""
    if importlib.util.find_spec(module) is None:
        return Finding(subject, "missing", "not installed", remedy or f"pip install {distribution}", needed)
    return Finding(subject, "found", f"{distribution} {importlib.metadata.version(distribution)}", needed=needed)
