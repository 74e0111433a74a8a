"""Settings from every source: command line > environment > user file > defaults; and one choice back into the file.

An unknown key is an error that names the nearest known one. Must not know what a setting means.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from predtui.errors import PredtuiError, reason
from predtui.files import LARGEST_TOML, parse_toml, read_text, replace_text
from predtui.settings import Option, Settings, options, sections, user_folder, value_of

CORRECT = "Correct it, or move it away."
"""What to do about a settings file."""
_NUMBER = re.compile(r"[1-9][0-9]*$")
_LARGEST = 1 << 53


def user_file() -> Path:
    return user_folder() / "settings.toml"


FORMER = {"llm.futures": "llm.continuations"}
"""Former name of a key, as users' files may still have it → its name."""


def load(overrides: Mapping[str, Any] | None = None, file: Path | None = None) -> Settings:
    """Settings out of all sources. ``overrides`` are the command line's, ``section.name`` → value.

    Raises PredtuiError for an unreadable file, malformed TOML, an unknown key, or a value of the wrong kind.
    """
    return _combined(_from_file(file or user_file(), must_exist=file is not None), overrides)


def _combined(file: Mapping[str, Any], overrides: Mapping[str, Any] | None) -> Settings:
    values = dict(file)
    values.update(_from_environment(os.environ))
    for key, value in (overrides or {}).items():
        values[key] = checked(key, value, "the command line")
    return _build(values)


def load_or_default(overrides: Mapping[str, Any] | None = None) -> tuple[Settings, str]:
    """As ``load``, but without the user file where that cannot be used; then a line says why, else it is empty."""
    try:
        values, problem = _from_file(user_file(), must_exist=False), ""
    except PredtuiError as error:
        values, problem = {}, _unused(user_file(), error)
    return _combined(values, overrides), problem


def _unused(path: Path, error: PredtuiError) -> str:
    """What to do and the file come first: what the parser says may be longer than there is room."""
    said = str(error).removeprefix(f"{path}: ").removesuffix(CORRECT).rstrip()
    return f"The settings are not used. Correct this file, or move it away: {path}: {said}"


def remember(key: str, value: Any) -> None:
    """Writes one choice to the user file, atomically, keeping every other line and comment as it is.

    Raises PredtuiError where the file cannot be read or written.
    """
    import tomlkit

    kept = checked(key, value, "this call")
    section, name = key.split(".", 1)
    path = user_file()
    try:
        document = tomlkit.parse(read_text(path, LARGEST_TOML)) if path.exists() else tomlkit.document()
        if section not in document:
            document[section] = tomlkit.table()
        document[section][name] = kept
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, tomlkit.dumps(document))
    except (OSError, ValueError, TypeError, RecursionError, tomlkit.exceptions.TOMLKitError) as error:
        raise PredtuiError(f"{path}: cannot keep {key}: {reason(error)}.", "Check the file and its folder.") from error


def _build(values: Mapping[str, Any]) -> Settings:
    built: dict[str, Any] = {}
    for section, content in sections().items():
        prefix = section + "."
        chosen = {key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)}
        built[section] = dataclasses.replace(content, **chosen)
    return Settings(**built)


def _from_file(path: Path, must_exist: bool) -> dict[str, Any]:
    try:
        document = parse_toml(read_text(path, LARGEST_TOML))
    except (FileNotFoundError, NotADirectoryError) as error:
        if must_exist:
            raise PredtuiError(f"{path}: no such settings file.") from error
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise PredtuiError(f"{path}: cannot be read: {reason(error)}.", CORRECT) from error
    except ValueError as error:
        raise PredtuiError(f"{path}: not valid TOML: {error}.", CORRECT) from error
    values: dict[str, Any] = {}
    for section, content in document.items():
        if section in sections() and not isinstance(content, dict):
            raise PredtuiError(f"{path}: {section} is a section.", f"Write its keys below a line [{section}].")
        if not isinstance(content, dict):
            raise _unknown(section, str(path))
        for name, value in content.items():
            key = FORMER.get(f"{section}.{name}", f"{section}.{name}")
            values[key] = checked(key, value, str(path))
    return values


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    by_variable = {item.variable: key for key, item in options().items()}
    folders = {f"PREDTUI_{kind}_DIR" for kind in ("CONFIG", "STATE", "DATA", "CACHE", "MODELS")}
    outside = {*folders, "PREDTUI_EMBEDDED", "PREDTUI_API_KEY"}
    values: dict[str, Any] = {}
    for variable, text in environment.items():
        if not variable.startswith("PREDTUI_") or variable in outside:
            continue
        if variable not in by_variable:
            raise _unknown(variable, "the environment", [*by_variable, *outside])
        values[by_variable[variable]] = checked(by_variable[variable], text, f"the environment ({variable})")
    return values


def origins(settings: Settings) -> dict[str, str]:
    """Where each of these settings comes from, ``section.name`` → the environment, the user's file or a default; the
    command line, where it is none of them. Raises nothing: a file that cannot be used says nothing."""
    try:
        kept, told = _from_file(user_file(), must_exist=False), _from_environment(os.environ)
    except PredtuiError:
        kept, told = {}, {}
    return {key: _origin(item, value_of(settings, key), kept, told) for key, item in options().items()}


def _origin(item: Option, value: Any, kept: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    if item.key in told and told[item.key] == value:
        return "environment"
    if item.key in kept and kept[item.key] == value:
        return "file"
    return "default" if value == item.default else "command line"


def checked(key: str, value: Any, source: str) -> Any:
    """``value`` as the setting ``key`` takes it. Raises PredtuiError, which says that it comes from ``source``."""
    table = options()
    if key not in table:
        raise _unknown(key, source)
    item = table[key]
    result = _converted(item, value, source)
    if item.choices and not _offered(str(result), item.choices):
        hint = "N stands for a number, as in top3." if any(name.endswith("N") for name in item.choices) else ""
        raise PredtuiError(f"{source}: {key} = {value!r} is not one of {', '.join(item.choices)}.", hint)
    if item.kind in (int, float) and not (item.least <= result <= item.most and abs(result) <= _LARGEST):
        raise PredtuiError(f"{source}: {key} = {value} should be {_range(item, result)}.")
    return result


def _offered(name: str, choices: Sequence[str]) -> bool:
    """Whether ``name`` is one of ``choices``, with a number where one of them ends with N."""
    return (name in choices and not name.endswith("N")) or (
        bool(_NUMBER.search(name)) and _NUMBER.sub("N", name) in choices
    )


def _range(item: Option, value: float) -> str:
    """What ``value`` should be: within the bounds of ``item``, or of any number if it is beyond those."""
    least, most = _plain(max(item.least, -_LARGEST)), _plain(min(item.most, _LARGEST))
    return f"{least} to {most}" if item.most < math.inf or abs(value) > _LARGEST else f"{least} or more"


def _plain(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else f"{number:g}"


def _converted(item: Option, value: Any, source: str) -> Any:
    words = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
    if item.kind is bool and isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    if item.kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _LARGEST:
        return float(value)
    if type(value) is item.kind:
        return value
    if item.kind is str and item.choices and type(value) is int:
        return str(value)
    if isinstance(value, str) and item.kind in (int, float):
        try:
            return item.kind(value)
        except ValueError:
            pass
    kind = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}[item.kind]
    raise PredtuiError(f"{source}: {item.key} = {value!r} should be {kind}.")


def _unknown(key: str, source: str, known: list[str] | None = None) -> PredtuiError:
    names = known if known is not None else list(options())
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.3) or difflib.get_close_matches(
        key.split(".")[-1], [name.split(".")[-1] for name in names], n=1
    )
    hint = f"Did you mean {near[0]}?" if near else f"Known keys: {', '.join(names)}."
    return PredtuiError(f"{source}: unknown setting {key!r}.", hint)
