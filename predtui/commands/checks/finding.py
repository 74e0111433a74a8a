"""One line of the doctor's: what was looked for, whether it is here, and what to do if not."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.text import Text

State = Literal["found", "missing", "broken"]
MARKS: dict[State, tuple[str, str]] = {"found": ("✓", "green"), "missing": ("–", "yellow"), "broken": ("✗", "bold red")}
"""How a state is shown: a sign, and its style."""


@dataclass(frozen=True, slots=True)
class Finding:
    """``needed``: whether a typed turn cannot work without it."""

    subject: str
    state: State
    detail: str
    remedy: str = ""
    needed: bool = False

    def line(self) -> Text:
        """As it is printed."""
        from rich.text import Text

        mark, style = MARKS[self.state]
        line = Text.assemble((f"{mark} ", style), (f"{self.subject:<19}", "bold"), self.detail)
        return line.append(f"  {self.remedy}", style="italic") if self.remedy else line


def package_finding(subject: str, distribution: str, module: str, remedy: str = "", needed: bool = False) -> Finding:
    """Whether a distribution is installed, by the module that it brings."""
    if importlib.util.find_spec(module) is None:
        return Finding(subject, "missing", "not installed", remedy or f"pip install {distribution}", needed)
    return Finding(subject, "found", f"{distribution} {importlib.metadata.version(distribution)}", needed=needed)
