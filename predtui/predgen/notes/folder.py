"""The notes in a folder: which there are, which have changed, which cannot be read and why.

It follows no link out of the folder, opens no pipe or device, and reads no more than a worker can hold. Must not know
what notes are for.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from predtui.errors import PredtuiError, reason
from predtui.files import folder, kind, read_text
from predtui.foreign import printable

SUFFIXES = (".md", ".markdown", ".txt", ".text")
LARGEST = 1 << 20
"""Bytes of a note."""
MOST = 1000
"""Notes of a folder."""
TOTAL = 1 << 24
"""Bytes of all of them."""
_LOOKED_AT = 20_000
"""Names in the folder, of whatever kind, after which no more is looked at."""
_DEEPEST = 16
Stamp = tuple[int, int, int]
"""What changes where a file does."""


@dataclass(frozen=True, slots=True)
class Changes:
    """``read``: the text of notes that are new or have changed, by name; ``gone``: names of those that are no more."""

    read: dict[str, str] = field(default_factory=dict)
    gone: tuple[str, ...] = ()


class NotesFolder:
    """Remembers what it has read, so that a second look reads what has changed alone."""

    def __init__(self, named: str) -> None:
        self.named = named
        self.problem = ""
        """Why there are no notes, as a sentence; empty where there are some."""
        self.left_out: dict[str, str] = {}
        """Notes that are not read, by name, and why."""
        self.more = False
        """Whether there are more than are looked at."""
        self._known: dict[str, Stamp] = {}
        self._read: set[str] = set()

    def __len__(self) -> int:
        return len(self._read)

    def look(self) -> Changes:
        """What has changed since the last look."""
        self.problem = ""
        before, self.left_out = self.left_out, {}
        found = self._found()
        changed = {name: path for name, (path, stamp) in found.items() if self._known.get(name) != stamp}
        gone = [name for name in self._known if name not in found]
        self._known = {name: stamp for name, (_, stamp) in found.items()}
        self.left_out |= {name: why for name, why in before.items() if name in found and name not in changed}
        texts = dict(self._texts(changed))
        unread = [name for name in changed if name not in texts]
        lost = tuple(name for name in (*gone, *unread) if name in self._read)
        self._read = (self._read - {*lost}) | {*texts}
        if not self.problem and not self._read:
            self.problem = f"{printable(self.named)} has no notes that can be read: {self._what()}."
        return Changes(texts, lost)

    def _what(self) -> str:
        """What there is instead of notes, or what would be some."""
        name = min(self.left_out, default="")
        return f"it has {name} ({self.left_out[name]})" if name else f"these are files {', '.join(SUFFIXES)}"

    def _found(self) -> dict[str, tuple[str, Stamp]]:
        """Name → path and stamp, the first ``MOST`` by name."""
        found: dict[str, tuple[str, Stamp]] = {}
        try:
            root = folder(self.named).resolve()
            os.listdir(root)
        except (PredtuiError, OSError) as error:
            self.problem = error.message if isinstance(error, PredtuiError) else f"{self.named}: {reason(error)}."
            return found
        size = 0
        for looked, (path, status) in enumerate(_files(root)):
            size += 0 if isinstance(status, str) else min(status.st_size, LARGEST)
            self.more = looked == MOST or size > TOTAL
            if self.more:
                break
            name = printable(os.path.relpath(path, root))
            if isinstance(status, str):
                self.left_out[name] = status
            else:
                found[name] = path, (status.st_mtime_ns, status.st_size, status.st_ino)
        return found

    def _texts(self, paths: dict[str, str]) -> Iterator[tuple[str, str]]:
        """Those of notes that can be read."""
        for name, path in paths.items():
            try:
                text = read_text(Path(path), LARGEST)
                if "\0" in text:
                    raise ValueError("it is not text")
            except UnicodeDecodeError:
                self.left_out[name] = "it is not UTF-8"
            except (OSError, ValueError) as error:
                self.left_out[name] = reason(error)
            else:
                yield name, text


def _files(root: Path) -> Iterator[tuple[str, os.stat_result | str]]:
    """Notes beneath ``root``, in the order of their names, or why one is none; what is hidden, and linked folders, are
    left alone."""
    looked, waiting = 0, [(str(root), 0)]
    while waiting:
        at, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(at), key=lambda entry: entry.name)
        except OSError as error:
            yield at, reason(error)
            continue
        inner: list[tuple[str, int]] = []
        for entry in entries:
            looked += 1
            if looked > _LOOKED_AT:
                return
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                inner.append((entry.path, depth + 1))
            elif entry.name.lower().endswith(SUFFIXES):
                yield entry.path, _status(entry, root)
        if depth < _DEEPEST:
            waiting += reversed(inner)


def _status(entry: os.DirEntry[str], root: Path) -> os.stat_result | str:
    """Of a file within ``root``, also where a link names it; else why it is none."""
    try:
        if entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(root):
            return "it is a link out of the folder"
        status = entry.stat()
    except (OSError, RuntimeError) as error:
        return reason(error)
    return status if stat.S_ISREG(status.st_mode) else f"it is {kind(status.st_mode)}, not a file"
