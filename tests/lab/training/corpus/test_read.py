"""The tables are read as they stand, and a mistake in one is named with its file and line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from predtui.lab.training.corpus import read
from predtui.lab.training.corpus.grammar import resolutions
from predtui.lab.training.corpus.intents import INTENTS
from predtui.lab.training.corpus.intents.dialogue import AFTER_TURN
from predtui.lab.training.corpus.read import keys, phrases, rows, words

TABLES = Path(read.__file__).parent / "tables"
NAMES = sorted(str(path.relative_to(TABLES).with_suffix("")) for path in TABLES.rglob("*.tsv"))
Put = Callable[[str, str], None]


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Put]:
    """Writes a table where the reader looks."""
    monkeypatch.setattr("predtui.lab.training.corpus.read.resources.files", lambda package: tmp_path)

    def write(name: str, text: str) -> None:
        path = tmp_path / "tables" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    rows.cache_clear()
    yield write
    rows.cache_clear()


def test_a_cell_that_is_left_out_is_empty(put: Put) -> None:
    put("ages", "name\tage\tnote\nann\t3\nbob\t\tlate\n")
    assert list(rows("ages")) == [{"name": "ann", "age": "3", "note": ""}, {"name": "bob", "age": "", "note": "late"}]


@pytest.mark.parametrize(("line", "cells"), [("ann\t3\textra", 3), ("", 0)])
def test_a_row_of_the_wrong_length_is_named(put: Put, line: str, cells: int) -> None:
    put("odd", f"name\tage\nbob\t2\n{line}\nzoe\t4\n")
    with pytest.raises(ValueError, match=rf"odd\.tsv, line 3: {cells} cells where the table has 2 columns"):
        rows("odd")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("x\tsong\tla la", "there is no form 'song'"),
        ("x\tnoun\tthe {big|small thing", "brackets do not match"),
        ("x\tnoun\tthe time $where", "nothing is named for the"),
    ],
)
def test_a_wording_that_cannot_be_used_is_named(put: Put, row: str, says: str) -> None:
    put("wordings/odd", f"name\tform\twording\nx\tnoun\tthe $unit\n{row}\n")
    with pytest.raises(ValueError, match=rf"wordings/odd\.tsv, line 3: {says}"):
        phrases("odd", unit="day")


def test_wordings_come_by_name_and_form_in_their_order(put: Put) -> None:
    put("wordings/w", "name\tform\twording\nx\tnoun\tthe $unit\ny\tclause\twhy\nx\tnoun\tall $units of <$unit>\n")
    found = phrases("w", unit="day")
    assert found["x"].noun == ("the day", "all days of <day>")
    assert found["y"].clause == ("why",)
    assert found["y"].noun == ()


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(FileNotFoundError):
        rows("no-such-table")


def test_lists_of_words_and_cells() -> None:
    assert words("syllables")["ending"][:2] == ("ia", "land")
    assert "" in words("syllables")["coda"]
    assert keys("a||b|") == ("a", "b")


@pytest.mark.parametrize("name", NAMES)
def test_every_table_is_tidy(name: str) -> None:
    """No cell has blanks around it, and no line says what another one says."""
    found = rows(name)
    assert found
    assert all(cell == " ".join(cell.split()) for row in found for cell in row.values())
    if not name.startswith("words/"):  # there, a word that comes twice is drawn twice as often
        assert len({tuple(row.values()) for row in found}) == len(found)


def test_every_wording_is_used() -> None:
    used = {
        text
        for said in (*(intent.phrases for intent in INTENTS), *(request.phrases for request in AFTER_TURN))
        for texts in (said.noun, said.question, said.clause, said.command, said.followup)
        for text in texts
    }
    values = {"unit": ("day", "month"), "when": ("at <time>", "in <span>")}
    for name in (name for name in NAMES if name.startswith("wordings/")):
        for row in rows(name):
            text = row["wording"]
            named = next((key for key in values if f"${key}" in text), None)
            asked = [text.replace(f"${named}", value) for value in values[named]] if named else [text]
            assert used.issuperset(asked), (name, text)
            assert all(next(resolutions(one)) is not None for one in asked)
