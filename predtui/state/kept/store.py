"""The conversations that are kept: one SQLite file, private to its user, that several instances may use at once.

Every exchange is a row, written whole. Must not know who asks, nor where a conversation goes on.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.foreign import without_controls
from predtui.state.exchange import Exchange
from predtui.state.kept import kept_file

LONGEST_NAME = 80
"""Characters."""
NOTHING = "No conversation is kept yet."
LAST = "last"
"""Names the session used last."""
PATIENCE_S = 5.0
"""How long a file is waited for that another instance is writing to."""
_FIRST = """
CREATE TABLE sessions (number INTEGER PRIMARY KEY AUTOINCREMENT, began REAL NOT NULL);
CREATE TABLE exchanges (
    session INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
    place INTEGER NOT NULL,
    writer TEXT NOT NULL,
    time REAL NOT NULL,
    user TEXT NOT NULL,
    assistant TEXT NOT NULL,
    interrupted INTEGER NOT NULL,
    heard TEXT,
    PRIMARY KEY (session, place)
);
CREATE INDEX by_time ON exchanges (time);
"""
_STEPS = (
    _FIRST,
    "ALTER TABLE sessions ADD COLUMN name TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE exchanges ADD COLUMN notes TEXT NOT NULL DEFAULT ''",
)
"""What makes each version of the file out of the one before."""
VERSION = len(_STEPS)
_PUT = """
INSERT INTO exchanges VALUES (:session, :place, :writer, :time, :user, :assistant, :interrupted, :heard, :notes)
ON CONFLICT DO UPDATE
SET user = :user, assistant = :assistant, interrupted = :interrupted, heard = :heard, notes = :notes
WHERE writer = :writer
"""
_BRANCH = """
INSERT INTO exchanges SELECT :new, place, writer, time, user, assistant, interrupted, heard, notes FROM exchanges
"""
_SESSIONS = """
SELECT number, coalesce(nullif(name, ''), first.user), began, max(all_of.time), count(*), name
FROM sessions JOIN exchanges AS all_of ON all_of.session = number
JOIN exchanges AS first ON first.session = number AND first.place = (
    SELECT min(place) FROM exchanges WHERE session = number)
WHERE :wanted = '' OR instr(folded(name), :wanted) OR number IN (
    SELECT session FROM exchanges WHERE instr(folded(user), :wanted) OR instr(folded(assistant), :wanted))
GROUP BY number ORDER BY max(all_of.time) DESC, number DESC
"""


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation as a list shows it: its number, its name, which is its first prompt until it has one, seconds of
    the epoch at which it began and of its last prompt, and how many exchanges it has."""

    number: int
    title: str
    began: float
    last: float
    turns: int
    name: str = ""
    """Empty until it is given one."""


def kept() -> Store:
    """What is kept. Raises PredtuiError where that is nothing, or cannot be used."""
    if not kept_file().exists():
        raise PredtuiError(NOTHING)
    return Store(kept_file())


def kept_session(named: str) -> tuple[int, tuple[Exchange, ...]]:
    """The number and the exchanges of the session of that number, or "last". Raises PredtuiError."""
    with kept() as store:
        session = store.find(named).number
        return session, store.exchanges(session)


class Store:
    """For the thread that has opened it. Every method raises PredtuiError where the file cannot be used: it is damaged,
    locked, read-only, of a newer predtui, or the disk is full."""

    def __init__(self, path: Path, writer: str = "") -> None:
        """``writer``: what sets an instance apart that writes. Makes the file, and its folder, where there is none."""
        self._path, self._writer = path, writer
        with self._guarded():
            _make_private(path)
            self._base = sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None)
        try:
            with self._guarded():
                self._prepare()
        except PredtuiError:
            self._base.close()
            raise

    def put(self, session: int, place: int, exchange: Exchange) -> int:
        """Keeps the exchange at ``place`` of ``session``; 0 is one that begins now. Returns the session that has it: a
        branch where another instance has gone on with that one, and what comes now alone where that was deleted."""
        with self._guarded(), self._transaction():
            number = session if self._has(session) else self._begin()
            if not self._put(number, place, exchange):
                number = self._begin()
                self._base.execute(f"{_BRANCH} WHERE session = :old AND place < :place",
                                   {"new": number, "old": session, "place": place})  # fmt: skip
                self._put(number, place, exchange)
            return number

    def exchanges(self, session: int) -> tuple[Exchange, ...]:
        """All of a session, in order; none where there is no such session."""
        asked = "SELECT user, assistant, interrupted, heard, notes FROM exchanges WHERE session = ? ORDER BY place"
        with self._guarded():
            return tuple(
                Exchange(user, assistant, bool(interrupted), heard, tuple(notes.splitlines()))
                for user, assistant, interrupted, heard, notes in self._base.execute(asked, (session,))
            )

    def sessions(self, wanted: str = "") -> list[Session]:
        """Those with ``wanted`` in what was said or in their name, in letters of any case; the one used last first."""
        with self._guarded():
            return [Session(*row) for row in self._base.execute(_SESSIONS, {"wanted": wanted.casefold()})]

    def find(self, named: str) -> Session:
        """The one of that number; "last": the one used last. Raises PredtuiError, too, where there is none."""
        sessions = self.sessions()
        found = sessions[:1] if named == LAST else [one for one in sessions if str(one.number) == named]
        if not found and named == LAST:
            raise PredtuiError(NOTHING)
        if not found:
            raise PredtuiError(f"No session {named} is kept.", "See: predtui sessions list")
        return found[0]

    def prompts(self, most: int) -> list[str]:
        """What was asked last, the newest last, each once."""
        asked = "SELECT user FROM exchanges GROUP BY user ORDER BY max(time) DESC, max(rowid) DESC LIMIT ?"
        with self._guarded():
            return [user for (user,) in self._base.execute(asked, (most,))][::-1]

    def rename(self, session: int, name: str) -> None:
        """One line of at most ``LONGEST_NAME`` characters; an empty one: by its first prompt again."""
        named = _text(" ".join(without_controls(name).split()))[:LONGEST_NAME].rstrip()
        with self._guarded():
            self._base.execute("UPDATE sessions SET name = ? WHERE number = ?", (named, session))

    def delete(self, session: int) -> None:
        """Its words are overwritten in the file, too."""
        with self._guarded():
            self._base.execute("DELETE FROM sessions WHERE number = ?", (session,))
            self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._base.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self) -> None:
        """WAL: readers and the writer do not wait for each other, and a process that is killed leaves whole rows."""
        self._base.create_function("folded", 1, str.casefold, deterministic=True)
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "secure_delete = ON"):
            self._base.execute(f"PRAGMA {pragma}")
        if self._version() > VERSION:
            raise PredtuiError(f"{self._path} was written by a newer predtui.", "Update this one.")
        if self._version() < VERSION:
            with self._transaction():
                for step in _STEPS[self._version() :]:  # none where another instance has been quicker
                    for statement in filter(str.strip, step.split(";")):
                        self._base.execute(statement)
                self._base.execute(f"PRAGMA user_version = {VERSION}")

    def _version(self) -> int:
        return int(self._base.execute("PRAGMA user_version").fetchone()[0])

    def _has(self, session: int) -> bool:
        return self._base.execute("SELECT 1 FROM sessions WHERE number = ?", (session,)).fetchone() is not None

    def _begin(self) -> int:
        return int(self._base.execute("INSERT INTO sessions (began) VALUES (?)", (time.time(),)).lastrowid or 0)

    def _put(self, session: int, place: int, exchange: Exchange) -> bool:
        """Whether it could be put there."""
        row = {
            "session": session,
            "place": place,
            "writer": self._writer,
            "time": time.time(),
            "user": _text(exchange.user),
            "assistant": _text(exchange.assistant),
            "interrupted": exchange.interrupted,
            "heard": None if exchange.heard is None else _text(exchange.heard),
            "notes": _text("\n".join(exchange.notes)),
        }
        return self._base.execute(_PUT, row).rowcount > 0

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of it, or nothing. What writes asks for that at once: one that only reads at first may not write then."""
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise PredtuiError(f"{self._path}: {_why(error)}.", _remedy(error)) from error


def _make_private(path: Path) -> None:
    """For its user alone; SQLite gives the files beside it the same permissions."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _text(text: str) -> str:
    """Without halves of characters, which no file takes."""
    return text.encode("utf-8", "replace").decode()


def _why(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).rstrip(".")


def _remedy(error: Exception) -> str:
    if type(error) is sqlite3.DatabaseError:
        return "Move it away: another is begun."
    return "Check the file, its folder, and the room on its disk."
