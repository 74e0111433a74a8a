"""Events as JSON objects and back. Must not know files, nor any stage."""

from __future__ import annotations

import base64
import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from predtui.state import events as ev
from predtui.state.sound import Clip, Sound

KINDS: dict[str, type[ev.Event]] = {
    kind.__name__: kind for kind in vars(ev).values() if isinstance(kind, type) and issubclass(kind, ev.Event)
}
"""Every event type by its name."""
FORMER = {"Future": "Continuation", "Candidate.struck": "rejected"}
"""Events and fields that recorded sessions may have by the name they went by before."""
MAX_SILENCE = 1 << 24
"""Bytes that one event's sound may have."""
RANGES: dict[str, tuple[float, float]] = {"time": (0, 1e9), "progress": (-1, 1), "rate": (1, 1 << 20)}
"""Fields whose numbers have a range of their own."""
_INTEGERS, _NUMBERS = (-1, 1 << 53), (-1e12, 1e12)


def to_json(event: ev.Event, sound: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """``event`` as JSON types, with its type's name under "type". Sound becomes ``sound`` (where it is kept), or only
    its length in bytes."""
    record: dict[str, Any] = {"type": type(event).__name__}
    for field in dataclasses.fields(event):
        value = getattr(event, field.name)
        if isinstance(value, bytes | Clip):
            value = dict(sound) if sound is not None else {"bytes": len(value)}
        elif isinstance(value, tuple):
            value = [dataclasses.asdict(item) if dataclasses.is_dataclass(item) else item for item in value]  # type: ignore[arg-type]
        elif isinstance(value, ev.Thought):
            value = dataclasses.asdict(value)
        record[field.name] = value
    return record


def from_json(record: Any, sound: Callable[[Mapping[str, Any]], Sound] | None = None) -> ev.Event:
    """The event ``record`` stands for; ``sound`` fetches what is kept elsewhere (without it: silence as long).

    Raises ValueError that names the field at fault.
    """
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    kind = KINDS.get(FORMER.get(str(record.get("type")), str(record.get("type"))))
    if kind is None:
        raise ValueError(f"unknown event type {record.get('type')!r}")
    hints = _hints(kind.__name__)
    values: dict[str, Any] = {}
    for name, value in record.items():
        if name == "type":
            continue
        name = FORMER.get(f"{kind.__name__}.{name}", name)
        if name not in hints:
            raise ValueError(f"{kind.__name__} has no field {name!r}")
        try:
            values[name] = _bytes(value, sound) if hints[name] == Sound else _decode(hints[name], value)
            _check(values[name], RANGES.get(name))
        except (TypeError, KeyError) as error:
            raise ValueError(f"{kind.__name__}.{name}: {error}") from error
    return kind(**values)


def inline_sound(pcm: bytes) -> dict[str, str]:
    """Sound kept in the record itself."""
    return {"base64": base64.b64encode(pcm).decode()}


@cache
def _hints(name: str) -> dict[str, Any]:
    kind = KINDS[name]
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _bytes(value: Any, sound: Callable[[Mapping[str, Any]], Sound] | None) -> Sound:
    if not isinstance(value, dict):
        raise TypeError("not a sound")
    if "base64" in value:
        return base64.b64decode(value["base64"], validate=True)
    if "bytes" in value:
        return bytes(_length(value["bytes"]))
    if sound is None:
        raise TypeError("the sound is kept elsewhere")
    return sound(value)


def _length(value: Any) -> int:
    length: int = _decode(int, value)
    if not 0 <= length <= MAX_SILENCE:
        raise TypeError(f"{length} bytes is no length of a sound")
    return length


def _decode(hint: Any, value: Any) -> Any:
    """``value`` as the type ``hint`` says. Raises TypeError."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return _one_of(arguments, value)
    if origin in (types.UnionType, typing.Union):
        return None if value is None else _decode(arguments[0], value)
    if origin is tuple:
        return _tuple(arguments, value)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _dataclass(hint, value)
    if hint is float and type(value) is int:
        _check(value, _NUMBERS)
        return float(value)
    if type(value) is not hint:
        raise TypeError(f"{value!r} is not {hint.__name__}")
    if hint in (int, float):
        _check(value, _INTEGERS if hint is int else _NUMBERS)
    return value


def _check(value: Any, allowed: tuple[float, float] | None) -> None:
    """Raises TypeError for a number out of range, or one that is none."""
    if allowed and not allowed[0] <= value <= allowed[1]:
        raise TypeError(f"{value!r} is not within {allowed[0]:g} and {allowed[1]:g}")


def _one_of(choices: tuple[Any, ...], value: Any) -> Any:
    if value not in choices:
        raise TypeError(f"{value!r} is none of {', '.join(map(repr, choices))}")
    return value


def _tuple(kinds: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is not a list")
    each = kinds[:1] * len(value) if kinds[-1] is Ellipsis else kinds
    if len(each) != len(value):
        raise TypeError(f"{value!r} is not {len(each)} values")
    return tuple(_decode(kind, item) for kind, item in zip(each, value, strict=True))


def _dataclass(kind: type[Any], value: Any) -> Any:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is not an object")
    hints = typing.get_type_hints(kind)
    return kind(**{name: _decode(hints[name], item) for name, item in value.items()})
