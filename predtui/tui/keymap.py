"""The keys that a person chose: a file beside their settings, over a preset. Must not know what an action does.

    preset = "emacs"

    [keys]
    verifier = "f10"
    zoom = "z, f11"
    real = ""

An empty text takes an action's keys away. What is wrong with a line is told, and leaves that action its own keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NamedTuple

from textual.keys import Keys, _character_to_key

from predtui.files import LARGEST_TOML, parse_toml, read_text
from predtui.tui.keys import PRESETS

NAME = "keys.toml"
Scope = Literal["app", "input", "pane", "time"]
"""Where keys act: anywhere, in the input line, in a pane, or where one goes to and fro in time."""
WHERE: dict[Scope, str] = {
    "app": "anywhere",
    "pane": "in a pane that has the focus",
    "time": "in a recording, and looking back",
    "input": "in the input line",
}
ALIASES = {
    "esc": "escape", "return": "enter", "del": "delete", "ins": "insert", "pgup": "pageup", "pgdn": "pagedown",
    "control": "ctrl", "meta": "alt", "option": "alt",
}  # fmt: skip
_NAMED = frozenset(key.value for key in Keys if "+" not in key.value)
_HELD = ("ctrl", "alt", "shift", "super")
_NEEDED = "quit"


class Bound(NamedTuple):
    """Something that keys do: its name, its keys at first, with commas, and where they act."""

    name: str
    keys: str
    scope: Scope
    everywhere: bool = False
    """Whether its keys act wherever the focus is."""


class Keymap(NamedTuple):
    """``keys``: name → keys, with commas, of what has other keys than at first. ``problems``: a line each."""

    keys: Mapping[str, str]
    problems: tuple[str, ...] = ()


def read_keymap(path: Path, known: Sequence[Bound]) -> Keymap:
    """What of the file can be used; nothing where there is none. Never raises."""
    try:
        document = parse_toml(read_text(path, LARGEST_TOML))
    except (FileNotFoundError, NotADirectoryError):
        return Keymap({})
    except (OSError, ValueError) as error:
        return Keymap({}, (f"{path}: the keys are not used: {' '.join(str(error).split())}",))
    problems = [f"{path}: {key}: unknown; there are preset and [keys]" for key in document.keys() - {"preset", "keys"}]
    preset, own = document.get("preset", ""), document.get("keys", {})
    if preset not in ("", *PRESETS):
        problems.append(f"{path}: preset: there are {', '.join(PRESETS)}")
        preset = ""
    if not isinstance(own, dict):
        problems.append(f"{path}: keys: write its lines below a line [keys]")
        own = {}
    bound = {one.name: one for one in known}
    usual = {name: keys for name, keys in PRESETS.get(preset, {}).items() if name in bound}
    chosen = dict(usual)
    for name, value in own.items():
        if fault := _fault(name, value, bound):
            problems.append(f"{path}: keys.{name}: {fault}")
        else:
            chosen[name] = ",".join(_split(value))
    while clash := _clash([name for name in own if name in chosen and chosen[name] != usual.get(name)], bound, chosen):
        name, key, other = clash
        problems.append(f"{path}: keys.{name}: {key!r} is the key of {other}")
        chosen.pop(name)
        chosen |= {name: usual[name]} if name in usual else {}
    return Keymap(chosen, tuple(problems))


def _fault(name: str, value: Any, bound: Mapping[str, Bound]) -> str:
    """What is wrong with a line by itself; empty where nothing is."""
    if name not in bound:
        near = get_close_matches(name, bound, n=1)
        return "there is no such action" + (f"; did you mean {near[0]}?" if near else ": predtui help keys")
    if not isinstance(value, str):
        return 'write keys as "f10", or as "ctrl+o, f10"'
    if name == _NEEDED and not _split(value):
        return "there must be one"
    for key in _split(value):
        if not _is_key(key):
            return f"{key!r} is no key; such are f10, ctrl+o, alt+left, pageup"
        if bound[name].scope in ("app", "input") and _is_text(key):
            return f"{key!r} is typed; with ctrl or alt it is a key"
    return ""


def _clash(own: Sequence[str], bound: Mapping[str, Bound], chosen: Mapping[str, str]) -> tuple[str, str, str] | None:
    """The last of ``own`` that has another's key, that key, and that other."""
    keys = {name: set(_split(chosen.get(name, one.keys))) for name, one in bound.items()}
    for name in reversed(own):
        for other, one in bound.items():
            both = keys[name] & keys[other] if other != name and _meet(bound[name], one) else set()
            if both:
                return name, min(both), other
    return None


def _split(value: str) -> list[str]:
    """The keys in a text, as Textual names them."""
    return [named(key) for key in value.split(",") if key.strip()]


def named(key: str) -> str:
    """As Textual names it: "Ctrl+O" is ctrl+o, "?" is question_mark, "Esc" is escape."""
    *held, last = key.strip().rsplit("+", 1) if key.strip() != "+" else ["+"]
    parts = [ALIASES.get(one, one) for one in "+".join(held).lower().split("+") if one]
    if len(last) == 1:
        last = _character_to_key(last.lower() if parts else last)
    else:
        last = ALIASES.get(last.lower(), last.lower())
    return "+".join([*parts, last])


def _is_key(key: str) -> bool:
    *held, last = key.split("+")
    return all(one in _HELD for one in held) and (len(last) == 1 or last in _NAMED or _is_mark(last))


def _is_text(key: str) -> bool:
    return "+" not in key and (len(key) == 1 or key == "space" or _is_mark(key))


def _is_mark(name: str) -> bool:
    """Whether Textual calls a mark so, such as question_mark."""
    return any(_character_to_key(chr(code)) == name for code in range(33, 127) if not chr(code).isalnum())


def _meet(one: Bound, other: Bound) -> bool:
    """Whether one key cannot do both."""
    if one.scope == other.scope or one.everywhere or other.everywhere:
        return True
    return "app" in (one.scope, other.scope) and "time" not in (one.scope, other.scope)
