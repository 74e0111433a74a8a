"""A conversation as a text to take along, Markdown or JSON. Must not know where it goes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from predtui.errors import PredtuiError, reason
from predtui.files import replace_text
from predtui.state.exchange import Exchange

NOTHING = "Nothing has been said yet."


def markdown(exchanges: Iterable[Exchange], name: str = "") -> str:
    """Prompts as quotations, replies as they are, with what was not heard of them struck out; above them ``name``."""
    heading = [f"# {name}"] if name else []
    return "\n\n".join([*heading, *(part for exchange in exchanges for part in _parts(exchange))]) + "\n"


def as_json(exchanges: Iterable[Exchange]) -> str:
    """A list of objects with the fields of an exchange."""
    return json.dumps([asdict(exchange) for exchange in exchanges], ensure_ascii=False, indent=2) + "\n"


FORMATS: dict[str, Callable[[Iterable[Exchange], str], str]] = {
    ".md": markdown,
    ".json": lambda exchanges, _: as_json(exchanges),
}
"""A file's suffix, and what makes its text of exchanges and the name of their session."""
LONGEST = 40
"""Characters of a session's name in a file's."""


def save(exchanges: Sequence[Exchange], path: Path, name: str = "") -> Path:
    """Writes them whole or not at all, as ``path`` ends; returns where. ``name``: of their session. Raises
    PredtuiError."""
    if path.suffix not in FORMATS:
        raise PredtuiError(f"{path}: its name should end with {' or '.join(FORMATS)}.")
    if not exchanges:
        raise PredtuiError(NOTHING)
    try:
        replace_text(path, FORMATS[path.suffix](exchanges, name))
    except OSError as error:
        raise PredtuiError(f"{path} cannot be written: {reason(error)}.", "Choose another folder.") from error
    return path


def new_file(folder: Path, suffix: str, now: datetime, name: str = "") -> Path:
    """That says when, and which session by its ``name``, and that is no file yet."""
    words = "-".join(re.findall(r"\w+", name))[:LONGEST].strip("-")
    stem = "-".join(filter(None, ("predtui", words, f"{now:%Y-%m-%d-%H%M%S}")))
    paths = (folder / f"{stem}{extra}{suffix}" for extra in ("", *(f"-{count}" for count in range(2, 100))))
    return next(path for path in paths if not path.exists())


def _parts(exchange: Exchange) -> Iterable[str]:
    yield "\n".join(f"> {line}".rstrip() for line in exchange.user.splitlines() or [""])
    unheard = exchange.unheard.strip()
    heard = exchange.assistant.strip().removesuffix(unheard).rstrip()
    cut = f"■ *silenced* ~~{unheard}~~" if unheard else "■ *silenced*"
    if said := " ".join(part for part in (heard, cut if exchange.interrupted else "") if part):
        yield said
    if exchange.sources:
        yield f"*{exchange.sources}*"
