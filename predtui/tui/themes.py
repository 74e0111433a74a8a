"""Theme files: TOML in, Textual themes out, with every fault named by file, line and key. Knows nothing of widgets.

A theme file holds ``name``, ``dark`` and a ``[colours]`` table with one colour for each of ``COLOURS``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from predtui.files import LARGEST_TOML, parse_toml, read_text

BACKGROUNDS = ("background", "surface", "panel")
"""What text may stand on."""
INKS = ("primary", "secondary", "accent", "foreground", "warning", "error", "success")
MARKS = ("kept", "new", "struck", "stable", "tentative")
"""Colours of words: of a candidate (kept, new, and struck, which is what people's files call rejected) and of a
transcript (stable, tentative)."""
COLOURS = (*INKS, *BACKGROUNDS, *MARKS)

DARK, LIGHT = "midnight", "daylight"
"""Those for a terminal's background, where nobody has chosen."""
MARK_DEFAULTS = dict.fromkeys(MARKS, "#808080")
"""Lets the style sheet resolve before the first theme is chosen."""


@dataclass(frozen=True, slots=True)
class ThemeRegistry:
    """The themes that could be read, in order, and one line for each fault that made a file be skipped."""

    themes: tuple[Theme, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(theme.name for theme in self.themes)


class ThemeError(Exception):
    """Why a theme file cannot be used: ``file:line: key: reason``."""


def load_themes(folders: Iterable[Path]) -> ThemeRegistry:
    """Reads every ``*.toml`` of the folders; a later folder's theme replaces one of the same name. Never raises."""
    themes: dict[str, Theme] = {}
    problems: list[str] = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            try:
                theme = read_theme(path)
            except ThemeError as fault:
                problems.append(f"theme skipped: {fault}")
            else:
                themes[theme.name] = theme
    return ThemeRegistry(tuple(themes.values()), tuple(problems))


def read_theme(path: Path) -> Theme:
    """One theme out of one file. Raises ThemeError."""
    try:
        text = read_text(path, LARGEST_TOML)
    except (OSError, ValueError) as error:
        raise ThemeError(f"{path}:1: cannot be read: {error}") from error
    try:
        document = parse_toml(text)
    except ValueError as error:
        raise ThemeError(f"{path}:{_error_line(error, text)}: not valid TOML: {error}") from error
    for key in document:
        if key not in ("name", "dark", "colours"):
            raise _fault(path, text, key, "unknown key; known are name, dark and the table [colours]")
    name = _typed(document, "name", str, path, text)
    dark = _typed(document, "dark", bool, path, text)
    table = _typed(document, "colours", dict, path, text)
    return _theme(name, dark, _colours(table, path, text))


def _typed(document: dict[str, Any], key: str, kind: type, path: Path, text: str) -> Any:
    words = {str: "text", bool: "true or false", dict: "a table of colours"}[kind]
    if key not in document:
        raise _fault(path, text, key, f"missing; it must be {words}")
    value = document[key]
    if not isinstance(value, kind) or value == "":
        raise _fault(path, text, key, f"{value!r} must be {words}")
    return value


def _colours(table: dict[str, Any], path: Path, text: str) -> dict[str, str]:
    for key, value in table.items():
        if key not in COLOURS:
            raise _fault(path, text, key, f"unknown colour; known are {', '.join(COLOURS)}")
        try:
            opaque = isinstance(value, str) and Color.parse(value).a == 1
        except ColorParseError:
            opaque = False
        if not opaque:
            raise _fault(path, text, key, f'{value!r} is not an opaque colour such as "#1a2b3c"')
    for key in COLOURS:
        if key not in table:
            raise _fault(path, text, key, "missing from [colours]")
    return {key: Color.parse(table[key]).hex for key in COLOURS}


def _theme(name: str, dark: bool, colours: dict[str, str]) -> Theme:
    background, primary, panel = colours["background"], colours["primary"], colours["panel"]
    variables = {mark: colours[mark] for mark in MARKS} | {
        "block-cursor-foreground": background,
        "block-cursor-background": primary,
        "block-cursor-text-style": "bold",
        "input-cursor-foreground": background,
        "input-cursor-background": primary,
        "input-selection-background": panel,
        "border": primary,
        "border-blurred": colours["secondary"],
        "scrollbar": colours["secondary"],
        "scrollbar-hover": primary,
        "scrollbar-active": colours["accent"],
        "scrollbar-background": colours["surface"],
        "footer-background": panel,
        "text-muted": colours["secondary"],
        "text-disabled": colours["secondary"],
    }
    used: dict[str, Any] = {key: colours[key] for key in (*INKS, *BACKGROUNDS)}
    return Theme(name=name, dark=dark, variables=variables, text_alpha=1.0, **used)


def _fault(path: Path, text: str, key: str, reason: str) -> ThemeError:
    return ThemeError(f"{path}:{_line_of(key, text)}: {key}: {reason}")


def _line_of(key: str, text: str) -> int:
    """The line, from 1, where a key or table is written; 1 where it is not."""
    written = re.compile(rf"""^\s*\[?\s*["']?{re.escape(key)}["']?\s*[\]=.]""")
    return next((number for number, line in enumerate(text.splitlines(), 1) if written.match(line)), 1)


def _error_line(error: ValueError, text: str) -> int:
    found = re.search(r"at line (\d+)", str(error))
    return int(found.group(1)) if found else max(1, len(text.splitlines()))
