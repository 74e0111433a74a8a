"""Which of its models a server is asked for. Must not know of any particular server."""

from __future__ import annotations

import difflib
import re
from typing import Any

from predtui.foreign import printable
from predtui.llm.remote.client import Link
from predtui.llm.remote.failures import LOCAL, NOT_JSON, ServerError, understanding

_SHOWN = 5
_SIZE = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)([bBmM])(?![A-Za-z])")


def models(link: Link) -> list[dict[str, Any]]:
    """What the server tells of each of its models; nothing where it has no such list. Raises ServerError."""
    try:
        said = link.ask("/v1/models")
    except ServerError as error:
        if error.not_offered and error.status != NOT_JSON:
            return []
        raise
    with understanding(link.place):
        return [dict(model) for model in said["data"]]


def chosen(link: Link, told: list[dict[str, Any]]) -> dict[str, Any]:
    """The one that the address names, by its name or what stands behind its last slash; or the only one. Raises
    ServerError."""
    wanted, names = link.address.model, [str(model.get("id", "")) for model in told]
    if not wanted and len(told) == 1:
        return told[0]
    for model, name in zip(told, names, strict=True):
        if wanted and wanted in (name, name.rpartition("/")[2]):
            return model
    shown = printable(", ".join(names[:_SHOWN])) + (", …" if len(names) > _SHOWN else "")
    if not told:
        raise ServerError(f"{link.place} has no model.", f"Load one there. {LOCAL}")
    if not wanted:
        raise ServerError(f"{link.place} has {len(told)} models: {shown}.", "Choose one with --model NAME.")
    near = difflib.get_close_matches(wanted, names, n=1)
    meant = f"Did you mean --model {printable(near[0])}? " if near else ""
    hint = f"{meant}It has {shown}: choose with --model NAME."
    raise ServerError(f"{link.place} has no model {wanted!r}.", hint)


def parameters_in(*names: str) -> int:
    """How many parameters a model's name says it has, as in "Qwen2.5-7B-Instruct"; 0: none."""
    for name in names:
        if found := _SIZE.search(name):
            return int(float(found[1]) * {"b": 1e9, "m": 1e6}[found[2].lower()])
    return 0
