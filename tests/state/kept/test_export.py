"""What is taken along is all that was said, and shows where a reply was cut."""

from __future__ import annotations

import errno
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.state.exchange import Exchange
from predtui.state.kept.export import as_json, markdown, new_file, save
from tests.state.exchanges import of_json
from tests.state.kept.test_store import exchanges

SAID = [Exchange("first\nsecond", "Yes."), Exchange("why", "Since it is so.", interrupted=True, heard="Since it")]


@given(st.lists(exchanges))
def test_json_gives_every_exchange_back(said: list[Exchange]) -> None:
    assert of_json(as_json(said)) == said


@given(st.lists(st.builds(Exchange, st.text("ab \n", min_size=1), st.text("cd. "), st.booleans())))
def test_markdown_has_every_word_of_both(said: list[Exchange]) -> None:
    words = markdown(said).replace("> ", "").replace(">", "").replace("■ *silenced*", "").split()
    assert words == [word for each in said for word in (*each.user.split(), *each.assistant.split())]


def test_markdown_names_the_notes_that_a_reply_rests_on() -> None:
    assert markdown([Exchange("when", "At nine.", notes=("trip.md", "a/b.txt"))]) == (
        "> when\n\nAt nine.\n\n*from trip.md, a/b.txt*\n"
    )


def test_the_name_of_a_session_stands_above_it_and_nothing_where_it_has_none(tmp_path: Path) -> None:
    assert markdown(SAID, "bread, second try") == f"# bread, second try\n\n{markdown(SAID)}"
    assert save(SAID, tmp_path / "a.md", "bread").read_text() == markdown(SAID, "bread")
    assert of_json(save(SAID, tmp_path / "a.json", "bread").read_text()) == SAID


@given(st.text(min_size=1))
def test_any_name_makes_one_file_of_its_folder(name: str) -> None:
    path = new_file(Path("/none"), ".md", datetime(2026, 11, 23, 7, 45), name)
    assert path.parent == Path("/none")
    assert len(path.name.encode()) < 255
    assert set(path.name) - {"-", "."} <= set(name) | set("predtui20261123074500.md")
    assert path.name.endswith("-2026-11-23-074500.md")


def test_markdown_shows_where_a_reply_was_cut() -> None:
    assert markdown(SAID) == "> first\n> second\n\nYes.\n\n> why\n\nSince it ■ *silenced* ~~is so.~~\n"


def test_a_file_is_whole_or_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "talk.md"
    path.write_text("before")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("predtui.files.os.replace", full)
        with pytest.raises(PredtuiError, match="cannot be written"):
            save(SAID, path)
    assert [file.name for file in tmp_path.iterdir()] == ["talk.md"]
    assert path.read_text() == "before"
    save(SAID, path)
    assert path.read_text() == markdown(SAID)


@pytest.mark.parametrize(("name", "why"), [("talk.txt", ".md or .json"), ("gone/talk.md", "No such file")])
def test_a_name_that_cannot_be_is_refused_in_a_line(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(PredtuiError, match=why):
        save(SAID, tmp_path / name)


def test_a_new_file_takes_no_others_place(tmp_path: Path) -> None:
    now, made = datetime(2026, 11, 23, 7, 45), list[str]()
    for _ in range(3):
        path = new_file(tmp_path, ".md", now)
        path.touch()
        made.append(path.name)
    assert new_file(tmp_path, ".md", now, "bread, 2nd try").name == "predtui-bread-2nd-try-2026-11-23-074500.md"
    assert made == [f"predtui-2026-11-23-074500{more}.md" for more in ("", "-2", "-3")]
