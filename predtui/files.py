"""Files that a person names or somebody else wrote: found, bounded and parsed, with one line for what is wrong.

A path may be no path at all, what it names may be a pipe that nobody writes to, and a document may nest deeper than any
parser goes. Whoever takes a path or reads a document comes through here. Must not know what a file is for.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import tempfile
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from predtui.errors import PredtuiError, reason

LARGEST_TOML = 1 << 16
"""Characters of a settings, theme or profile file; tomllib takes a minute over keys of a hundred thousand."""
LARGEST_JSON = 1 << 26
"""Bytes of a JSON file: tokenizers have some 20 MB."""
LARGEST_CORPUS = 1 << 32
"""Bytes of a file of prompts or of text to learn from."""
_MOST_DOTS = 64
"""In one line of TOML: tomllib's time grows with the square of a key's parts."""
_SHOWN = 80
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
"""How an address begins that was taken for a path, which keeps one slash of two."""
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def resolve(named: str | Path) -> Path:
    """The path that a person means, which need not exist; ``~`` is a home folder. Raises PredtuiError for what no file
    can be called."""
    text = str(named)
    try:
        path = Path(text).expanduser()
        path.stat()
    except RuntimeError:
        raise PredtuiError(f"{_shown(text)}: there is no such user.", "Write the path out.") from None
    except ValueError:
        raise PredtuiError(f"{_shown(text)}: no file can be called that.", "Check the path.") from None
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            raise PredtuiError(f"{_shown(text)}: {error.strerror}.", "Check the path.") from None
        if address := _ADDRESS.match(text):
            raise PredtuiError(
                f"{_shown(_unfolded(text, address))} is an address, and no file of this machine.",
                "Fetch it first, and name the file.",
            ) from None
    return path


def regular_file(named: str | Path) -> Path:
    """The file that a person means, which is there and is no pipe or device. Raises PredtuiError."""
    return _there(named, stat.S_ISREG, "file")


def folder(named: str | Path) -> Path:
    """The folder that a person means, which is there. Raises PredtuiError."""
    return _there(named, stat.S_ISDIR, "folder")


def existing(named: str | Path) -> Path:
    """The file or folder that a person means, which is there. Raises PredtuiError."""
    path = resolve(named)
    _mode(path)
    return path


def only_files(within: Path) -> Path:
    """The folder of a model, whose libraries open what they find in it and in its own folders. Raises PredtuiError
    where that is a pipe or a device, which may never answer."""
    for path in sorted([*within.glob("*"), *within.glob("*/*")]):
        with suppress(OSError):
            mode = path.stat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise PredtuiError(f"{path} is {kind(mode)}, not a file.", "Fetch or copy the folder again.")
    return within


def replace_by(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file at once, in a folder that is made, by ``write``, which is told where: it is the old one or the new,
    and nothing is left beside it. Raises PredtuiError where that fails, as on a full disk."""
    partial = path.with_suffix(".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(partial)
        os.replace(partial, path)
    except Exception as error:  # each library has its own for a disk that is full
        raise unwritable(path, error) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def unwritable(path: Path, error: Exception) -> PredtuiError:
    """What to say where a file or a folder cannot be written."""
    return PredtuiError(f"{path} cannot be written: {reason(error).rstrip('.')}.", "Make room there, then try again.")


def _there(named: str | Path, is_one: Callable[[int], bool], what: str) -> Path:
    path = resolve(named)
    mode = _mode(path)
    if not is_one(mode):
        raise PredtuiError(f"{path} is {kind(mode)}, not a {what}.", f"Name a {what}.")
    return path


def kind(mode: int) -> str:
    """What a file of this mode is, as "a folder"."""
    return next((name for is_one, name in _KINDS if is_one(mode)), "a file")


def read_text(path: Path, most: int = LARGEST_JSON) -> str:
    """The text of a regular file of at most ``most`` bytes. Raises OSError, UnicodeDecodeError, or another ValueError
    for what is no file or too large; a pipe or device is not opened."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise ValueError(f"it is {kind(mode)}, not a file")
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"it is larger than {most:,} bytes")
    return data.decode("utf-8")


def parse_toml(text: str) -> dict[str, Any]:
    """Raises ValueError (tomllib.TOMLDecodeError where there is a line to name)."""
    if len(text) > LARGEST_TOML:
        raise ValueError(f"it is longer than {LARGEST_TOML:,} characters")
    if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):
        raise ValueError("a line has too many dots")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def parse_json(text: str | bytes) -> Any:
    """Raises ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def read_json(path: Path) -> Any:
    """What a JSON file holds. Raises OSError or ValueError."""
    return parse_json(read_text(path))


def replace_text(path: Path, text: str) -> None:
    """Write a file at once: it has the old text or the new, and nothing is left beside it. Raises OSError."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        raise PredtuiError(f"{path} does not exist.", "Check the path.") from None
    except OSError as error:
        raise PredtuiError(f"{path}: {error.strerror}.", "Check the path.") from None


def _unfolded(text: str, address: re.Match[str]) -> str:
    """The address as it was before it was taken for a path."""
    slashes = "///" if address[1].lower() == "file" else "//"
    return f"{address[1]}:{slashes}{text[address.end() :]}"


def _shown(text: str) -> str:
    """The beginning of a path that may be none, on one line."""
    short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return short if short.isprintable() else ascii(short)
