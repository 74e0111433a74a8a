"""Passages ranked by BM25 for words, in SQLite's full-text index, held in memory. Must not know of files or prompts.

Words count by their stems (Porter's, for English), without accents; small words such as "the" or "what" do not count.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable, Sequence

from predtui.errors import PredtuiError
from predtui.predgen.notes.passages import Passage

MOST_WORDS = 24
"""Words of a query, its last ones."""
_WORD = re.compile(r"\w+")
_SMALL = """
a about after again all am an and any are as at be been before being but by can could did do does doing down for
from get give had has have having he her here hers him his how i if in into is it its just know let like many
may me might more most much must my no nor not now of off on once one only or other our out over own please say
shall she should so some such tell than thank thanks that the their them then there these they think this those
to too under until up us very want was we were what when where which while who whom whose why will with would
yes you your s t d m re ve ll hello hi hey okay ok
"""
_UNCOUNTED = frozenset(_SMALL.split())
_TABLE = """
CREATE VIRTUAL TABLE passages USING fts5(
    text, note UNINDEXED, place UNINDEXED, tokenize = 'porter unicode61 remove_diacritics 2')
"""
_BEST = "SELECT rowid, note, place, text, bm25(passages) AS score FROM passages WHERE passages MATCH ?"
_ORDER = " ORDER BY score, note, place LIMIT ?"
Query = tuple[str, ...]


def query(prompt: str) -> Query:
    """The words of ``prompt`` that count, each once, in their order."""
    words = dict.fromkeys(word for word in _WORD.findall(prompt.casefold()) if word not in _UNCOUNTED)
    return tuple(words)[-MOST_WORDS:]


class Index:
    """Every passage that there is to find."""

    def __init__(self) -> None:
        """Raises PredtuiError where this SQLite has no full-text index."""
        self._base = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            self._base.execute(_TABLE)
        except sqlite3.Error as error:
            self.close()
            raise PredtuiError(f"This Python's SQLite finds no text: {error}.", "Install one with FTS5.") from error

    def put(self, note: str, passages: Iterable[Passage]) -> None:
        """``passages`` are all of ``note``, in the place of what it had before."""
        self._base.execute("BEGIN")
        self._base.execute("DELETE FROM passages WHERE note = ?", (note,))
        rows = ((one.text, one.note, one.place) for one in passages)
        self._base.executemany("INSERT INTO passages (text, note, place) VALUES (?, ?, ?)", rows)
        self._base.execute("COMMIT")

    def __len__(self) -> int:
        return int(self._base.execute("SELECT count(*) FROM passages").fetchone()[0])

    def best(self, words: Query, count: int, among: Collection[int] | None = None) -> list[Found]:
        """The ``count`` best for ``words``, of those ``among`` these numbers alone where they are told: the score of a
        passage is the same either way. (Without the plus, SQLite would search anew for each number.)"""
        asked = " OR ".join(f'"{word}"' for word in words)
        only = "" if among is None else f" AND +rowid IN ({','.join(map(str, among))})"
        rows = self._base.execute(_BEST + only + _ORDER, (asked, count)) if asked else ()
        return [(number, Passage(note, place, text), -score) for number, note, place, text, score in rows]

    def close(self) -> None:
        self._base.close()


Found = tuple[int, Passage, float]
"""A passage, its number in the index, and its score, the higher the better."""


def worth(found: Sequence[Found], share: float) -> list[Found]:
    """Those with at least ``share`` of the best one's score."""
    return [one for one in found if one[2] >= share * found[0][2]]
