"""HardwareProfile: what a forward and a first sound cost on a named machine, read from TOML and written to it.

Prices are data, so a bench on a virtual clock shows a machine that is not there. Must not know of models or stages.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from predtui.errors import PredtuiError
from predtui.files import LARGEST_TOML, parse_toml, read_text, resolve
from predtui.models.shipped import asset
from predtui.settings import user_folder

THIS_MACHINE = "this-machine"
"""The profile that ``predtui calibrate`` writes."""

_OPTIONAL = ("draft_speed",)
_POSITIVE = ("prefill_rate", "first_audio_ms", "speech_rate", *_OPTIONAL)


@dataclass(frozen=True, slots=True)
class HardwareProfile:
    """``forward_ms[i][j]``: milliseconds of one forward over ``tokens[j]`` new tokens after ``context[i]`` known ones.

    Linear between the points of the table; more new tokens than its last column cost ``1 / prefill_rate`` each; beyond
    its other edges the edge holds. ``tokens`` and ``context`` grow strictly.
    """

    name: str
    source: str
    tokens: tuple[int, ...]
    context: tuple[int, ...]
    forward_ms: tuple[tuple[float, ...], ...]
    prefill_rate: float
    """Tokens a second of a long prompt."""
    first_audio_ms: float
    """From a sentence to its first chunk of sound."""
    speech_rate: float
    """Seconds of sound synthesised a second, after the first chunk."""
    draft_speed: float | None = None
    """Forwards of the draft model in the time of one forward (DuoDecoding's c); None: there is no draft."""

    def forward_seconds(self, new: int, context: int) -> float:
        """Seconds of one forward over ``new`` tokens that follow ``context`` remembered ones."""
        held = min(new, self.tokens[-1])
        columns = [float(np.interp(held, self.tokens, row)) for row in self.forward_ms]
        beyond = (new - held) / self.prefill_rate
        return float(np.interp(context, self.context, columns)) / 1000 + beyond

    def draft_seconds(self, new: int, context: int) -> float:
        """The same of the draft model. Raises PredtuiError where its price is not known."""
        if self.draft_speed is None:
            raise PredtuiError(
                f"The hardware profile {self.name!r} does not say what a draft model costs.",
                "Add draft_speed to it, or measure this machine: predtui calibrate --draft pocket-draft",
            )
        return self.forward_seconds(new, context) / self.draft_speed


def load(name: str) -> HardwareProfile:
    """The profile of that name out of the user's folder or the shipped ones, or out of the TOML file at that path.

    Raises PredtuiError for a name that is not known, or for a file with anything missing, unknown or out of range.
    """
    path = resolve(name) if name.endswith(".toml") else available().get(name)
    if path is None or not path.is_file():
        hint = f"Choose one of {', '.join(sorted(available()))}, or the path of a .toml file."
        if name == THIS_MACHINE:
            hint = "Make it with: predtui calibrate"
        raise PredtuiError(f"There is no hardware profile {name!r}.", hint)
    try:
        content = parse_toml(read_text(path, LARGEST_TOML))
    except (OSError, ValueError) as error:
        raise PredtuiError(f"{path} cannot be read as a hardware profile: {error}.") from error
    return _parsed(content, path)


def available() -> dict[str, Path]:
    """Profiles by name; a user's own comes before a shipped one of its name."""
    folders = (asset("profiles"), user_profiles())
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def user_profiles() -> Path:
    """The folder of a person's own profiles. It need not exist."""
    return user_folder() / "profiles"


def write(profile: HardwareProfile, path: Path) -> None:
    """The profile as TOML, in a form that ``load`` reads back as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = {field.name: getattr(profile, field.name) for field in fields(profile)}
    lines = [f"{name} = {_toml(value)}\n" for name, value in known.items() if value is not None]
    path.write_text("".join(lines), encoding="utf-8")


def _parsed(content: dict[str, Any], path: Path) -> HardwareProfile:
    known = [field.name for field in fields(HardwareProfile)]
    for key in content:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            raise PredtuiError(f"{path}: unknown key {key!r}.", f"Did you mean {near[0]!r}?" if near else "")
    if missing := [key for key in known if key not in (*content, *_OPTIONAL)]:
        raise PredtuiError(f"{path}: {', '.join(missing)} missing.")
    for key in ("name", "source"):
        if not isinstance(content[key], str):
            raise PredtuiError(f"{path}: {key} must be a string.")
    tokens, context = (_growing(content, key, low, path) for key, low in (("tokens", 1), ("context", 0)))
    table = content["forward_ms"]
    if not isinstance(table, list) or len(table) != len(context):
        raise PredtuiError(f"{path}: forward_ms must have a row for each of the {len(context)} values of context.")
    return HardwareProfile(
        name=content["name"],
        source=content["source"],
        tokens=tokens,
        context=context,
        forward_ms=tuple(_row(row, len(tokens), path) for row in table),
        **{key: _positive(content[key], key, path) for key in _POSITIVE if key in content},
    )


def _growing(content: dict[str, Any], key: str, low: int, path: Path) -> tuple[int, ...]:
    values = content[key]
    if not (isinstance(values, list) and values and all(type(value) is int for value in values)):
        raise PredtuiError(f"{path}: {key} must be a list of whole numbers.")
    if values[0] < low or any(left >= right for left, right in pairwise(values)):
        raise PredtuiError(f"{path}: {key} must grow strictly from {low} or more.")
    return tuple(values)


def _row(row: Any, count: int, path: Path) -> tuple[float, ...]:
    if not isinstance(row, list) or len(row) != count:
        raise PredtuiError(f"{path}: each row of forward_ms must have {count} values, one for each of tokens.")
    return tuple(_positive(value, "forward_ms", path) for value in row)


def _positive(value: Any, key: str, path: Path) -> float:
    if type(value) not in (int, float) or not (value > 0 and math.isfinite(value)):
        raise PredtuiError(f"{path}: {key} must be a number above 0, not {value!r}.")
    return float(value)


def _toml(value: Any) -> str:
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04X}" for c in escaped) + '"'
    if isinstance(value, Sequence):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return repr(value)
