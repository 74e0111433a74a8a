"""Receives files over HTTP: resumed, bounded, checked, and under their names only once they are whole.

Own code over the standard library: huggingface_hub keeps a file whose size is right, whatever its bytes are, and looks
10 MB apart whether it was cancelled. Must not know of hubs, nor what is in a file.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from predtui.errors import PredtuiError
from predtui.models.connection import Client, PassingError, SpoiltError, host_of

CHUNK = 1 << 18
"""Bytes asked of a connection at once; what there is of them comes at once."""
PATIENCE = 5
"""Connections in a row that bring nothing, before it is given up."""
_MOST_CONNECTIONS = 200
_SPOILT = 2
"""Times that a file may come with other bytes than were promised."""
_PAUSES = (0.5, 1, 2, 4, 8)
_SPARE = 64 << 20
"""Bytes of the disk that are left free."""
_WINDOW_S = 10.0
"""Of the past that the speed is measured over."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file: its address, its final place, its size in bytes, and ``digest``: "sha256:" or "git:" and hexadecimal
    digits, or "" where nobody tells one. ``validator``: what the server calls this version of it; without it and
    without a digest, nothing is resumed."""

    address: str
    path: Path
    size: int
    digest: str = ""
    validator: str = ""

    @property
    def part(self) -> Path:
        """Where it is while it is being received. Another version has another name."""
        version = hashlib.sha256(f"{self.address} {self.digest or self.validator} {self.size}".encode()).hexdigest()
        return self.path.with_name(f".{self.path.name[:100]}.{version[:12]}.part")


@dataclass(frozen=True, slots=True)
class Progress:
    """Bytes ``done`` of ``total``, and bytes per second of late."""

    file: str
    done: int
    total: int
    speed: float

    def __str__(self) -> str:
        return f"{self.file}: {self.figures}"

    @property
    def figures(self) -> str:
        """Share, speed and time left, where there is any."""
        share = f"{self.done / 1e6:,.0f} of {self.total / 1e6:,.0f} MB, {self.done / max(1, self.total):.0%}"
        if self.speed < 1 or self.done >= self.total:
            return share
        return f"{share}, {self.speed / 1e6:.1f} MB/s, {_duration((self.total - self.done) / self.speed)}"


Report = Callable[[Progress], object]
Token = Callable[[str], str]
"""An address to the key that its server wants, or an empty text."""


def no_token(address: str) -> str:
    return ""


class Download:
    """Several files, one after the other. ``run`` blocks; ``cancel`` may be called on any thread."""

    def __init__(self, files: Sequence[Wanted], client: Client, token: Token = no_token) -> None:
        self._files, self._client, self._token = files, client, token
        self._cancelled = threading.Event()
        self._pace = Pace(sum(file.size for file in files))

    def cancel(self) -> None:
        """What has come so far stays, to be gone on with."""
        self._cancelled.set()

    def run(self, report: Report) -> bool:
        """Whether every file is there, whole and checked; False where it was cancelled. Raises PredtuiError where one
        cannot be had, or there is no room."""
        self._find_room()
        for file in self._files:
            if _size(file.path) == file.size and _holds(file):
                self._pace.skip(file.size)
            elif not self._receive_all(file, report):
                return False
            report(self._pace.progress(file.path.name))
        return True

    def _find_room(self) -> None:
        """Raises PredtuiError."""
        missing = [file for file in self._files if _size(file.path) != file.size]
        needed = sum(file.size - min(file.size, max(0, _size(file.part))) for file in missing)
        for folder in {file.path.parent for file in missing}:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                free = shutil.disk_usage(folder).free
            except OSError as error:
                raise _unwritable(folder, error) from error
            if needed + _SPARE > free:
                raise PredtuiError(
                    f"{needed / 1e6:,.0f} MB are to come, and {free / 1e6:,.0f} MB are free in {folder}.",
                    "Free some, or set PREDTUI_MODELS_DIR to a folder on another disk.",
                )

    def _receive_all(self, file: Wanted, report: Report) -> bool:
        """Whether it was not cancelled."""
        with Part(file) as part:
            self._pace.skip(part.size)
            idle = connections = spoilt = 0
            while not self._cancelled.is_set():
                before = part.size
                try:
                    if self._receive(file, part, report):
                        return True
                except PassingError as error:
                    connections, idle = connections + 1, 0 if part.size > before else idle + 1
                    if isinstance(error, SpoiltError):
                        spoilt += 1
                        self._clear(part)
                    if spoilt >= _SPOILT or idle >= PATIENCE or connections >= _MOST_CONNECTIONS:
                        raise _given_up(file, part, error) from error
                    self._client.wait(self._cancelled, max(error.after, _PAUSES[min(idle, len(_PAUSES) - 1)]))
        return False

    def _receive(self, file: Wanted, part: Part, report: Report) -> bool:
        """Over one connection; whether the file is whole and kept: not where it was cancelled. Raises PassingError,
        SpoiltError or PredtuiError."""
        host = host_of(file.address)
        if part.size < file.size:
            with self._client.open(file.address, self._token(file.address), part.size, file.validator) as response:
                begin = part.size if response.status == 206 else 0
                response.agree(begin, file.size)
                if begin < part.size:
                    self._clear(part)
                while chunk := response.read(CHUNK):
                    if self._cancelled.is_set():
                        return False
                    if part.size + len(chunk) > file.size:
                        raise SpoiltError(f"{host} sent more than the {file.size:,} bytes that were promised")
                    part.add(chunk)
                    self._pace.add(len(chunk))
                    report(self._pace.progress(file.path.name))
        if part.size < file.size:
            raise PassingError(f"{host} ended after {part.size:,} of {file.size:,} bytes")
        if not part.keep():
            raise SpoiltError(f"{host} sent other bytes than were promised")
        return True

    def _clear(self, part: Part) -> None:
        self._pace.skip(-part.size)
        part.clear()


class Part:
    """A file while it is being received, and the digest of what it holds. Every method raises PredtuiError where the
    disk does not take it. Where nothing of it has come, nothing of it is left."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self.size = 0

    def __enter__(self) -> Part:
        path = self._wanted.part
        resumed = bool(self._wanted.digest or self._wanted.validator)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("r+b" if resumed and path.is_file() else "w+b")
            self._digest = _begun(self._wanted)
            while chunk := self._file.read(1 << 20):
                self._digest.update(chunk)
                self.size += len(chunk)
        except OSError as error:
            raise _unwritable(path, error) from error
        if self.size > self._wanted.size:
            self.clear()
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
        if not self.size:
            with suppress(OSError):
                self._wanted.part.unlink()

    def add(self, chunk: bytes) -> None:
        try:
            self._file.write(chunk)
        except OSError as error:
            raise _unwritable(self._wanted.path, error) from error
        self._digest.update(chunk)
        self.size += len(chunk)

    def clear(self) -> None:
        try:
            self._file.seek(0)
            self._file.truncate()
        except OSError as error:
            raise _unwritable(self._wanted.path, error) from error
        self._digest, self.size = _begun(self._wanted), 0

    def keep(self) -> bool:
        """Whether its digest is the promised one; then it has its final name."""
        if self._wanted.digest and self._digest.hexdigest() != self._wanted.digest.partition(":")[2]:
            return False
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            os.replace(self._wanted.part, self._wanted.path)
        except OSError as error:
            raise _unwritable(self._wanted.path, error) from error
        return True


class Pace:
    """How much of all has come, and how fast of late."""

    def __init__(self, total: int, now: Callable[[], float] = time.monotonic) -> None:
        self._total, self._now = total, now
        self._done = self._received = 0
        self._past: deque[tuple[float, int]] = deque([(now(), 0)])

    def skip(self, length: int) -> None:
        """Bytes that were there already; or, if negative, that were thrown away."""
        self._done += length

    def add(self, length: int) -> None:
        self._done += length
        self._received += length
        now = self._now()
        self._past.append((now, self._received))
        while len(self._past) > 2 and now - self._past[1][0] > _WINDOW_S:
            self._past.popleft()

    def progress(self, file: str) -> Progress:
        begun, before = self._past[0]
        elapsed = self._now() - begun
        return Progress(file, self._done, self._total, (self._received - before) / elapsed if elapsed > 0 else 0.0)


def _holds(file: Wanted) -> bool:
    """Whether the file under its name is this version of it: an earlier pull may have been of another."""
    if not file.digest:
        return False
    digest = _begun(file)
    with suppress(OSError), file.path.open("rb") as held:
        while chunk := held.read(1 << 20):
            digest.update(chunk)
    return bool(digest.hexdigest() == file.digest.partition(":")[2])


def _begun(file: Wanted) -> Any:
    """What makes the digest of its bytes."""
    if file.digest.startswith("git:"):
        return hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)
    return hashlib.sha256()


def _given_up(file: Wanted, part: Part, error: PassingError) -> PredtuiError:
    if isinstance(error, SpoiltError):
        return PredtuiError(f"{file.path.name}: {error}: nothing of it is kept.", "Try again later, or tell its owner.")
    kept = f"{part.size / 1e6:,.0f} MB of it are kept: the same command goes on from there."
    return PredtuiError(f"{file.path.name}: {error}.", kept if part.size else "Is there a network? Try again later.")


def _unwritable(path: Path, error: OSError) -> PredtuiError:
    return PredtuiError(
        f"{path} cannot be written: {error.strerror or error}.", "Free some room, or set PREDTUI_MODELS_DIR."
    )


def _size(path: Path) -> int:
    """-1 where there is no such file."""
    try:
        return path.stat().st_size if path.is_file() else -1
    except OSError:
        return -1


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s left"
    return f"{seconds / 60:.0f} min left" if seconds < 5400 else f"{seconds / 3600:.1f} h left"
