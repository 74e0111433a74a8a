"""``predtui sessions`` and ``--resume``: what is kept, from the command line."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.commands.cli import app
from predtui.commands.sessions import resumable
from predtui.errors import PredtuiError
from predtui.state.exchange import Exchange
from predtui.state.kept import kept_file
from predtui.state.kept.export import markdown
from tests.state.exchanges import of_json
from tests.state.kept.test_store import said

FIRST = [
    Exchange("what is the capital of spain", "Madrid."),
    Exchange("and of peru", "Lima, of course.", True, "Lima,"),
]
SECOND = [Exchange("how many legs has a spider", "Eight.")]
Run = Callable[..., str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("PREDTUI_DATA_DIR", str(tmp_path / "data"))

    def command(*arguments: str) -> str:
        app(["sessions", *arguments], standalone_mode=False)
        return capsys.readouterr().out

    return command


@pytest.fixture
def kept(run: Run) -> None:
    said(kept_file(), FIRST, SECOND)


@pytest.mark.usefixtures("kept")
def test_the_list_has_the_last_one_first_and_can_be_searched(run: Run) -> None:
    spider, spain = run("list").splitlines()
    assert spider.split()[0] == "2"
    assert spider.endswith("1 turn  how many legs has a spider")
    assert spain.split()[0] == "1"
    assert run("list", "LIMA") == spain + "\n"
    assert "Nobody has said" in run("list", "Rome")


@pytest.mark.usefixtures("kept")
def test_a_session_is_listed_by_the_name_it_is_given(run: Run) -> None:
    assert run("rename", "1", "where\x1b[2J spain is\n").endswith("where [2J spain is\n")
    assert run("list", "where").count("\n") == 1


@pytest.mark.usefixtures("kept")
def test_a_session_is_shown_and_exported_by_its_number_or_as_the_last(run: Run, tmp_path: Path) -> None:
    assert run("show", "1") == run("export", "1") == markdown(FIRST)
    run("rename", "1", "the spain talk")
    assert run("show", "1") == run("export", "1") == markdown(FIRST, "the spain talk")
    assert run("show") == markdown(SECOND)
    assert of_json(run("export", "1", "--json")) == FIRST
    assert str(tmp_path / "talk.json") in run("export", "1", "--out", str(tmp_path / "talk.json"))
    assert of_json((tmp_path / "talk.json").read_text()) == FIRST


@pytest.mark.usefixtures("kept")
def test_a_session_is_deleted_only_where_somebody_has_said_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115
    with pytest.raises(PredtuiError, match="--yes"):
        run("delete", "1")
    with pytest.raises(PredtuiError, match="No session 9"):
        run("delete", "1", "9", "--yes")
    assert len(run("list").splitlines()) == 2
    assert "Deleted: 1" in run("delete", "1", "--yes")
    assert [line.split()[0] for line in run("list").splitlines()] == ["2"]


@pytest.mark.parametrize("arguments", [["list"], ["show"], ["show", "3"], ["export"], ["delete", "last", "--yes"]])
def test_where_nothing_is_kept_each_says_so_and_makes_no_file(run: Run, arguments: list[str]) -> None:
    with pytest.raises(PredtuiError, match="No conversation is kept yet"):
        run(*arguments)
    assert not kept_file().exists()


@given(st.lists(st.sampled_from(["--resume", "7", "--model", "x", "--resume=3", "last", "--", ""])))
def test_resume_alone_means_the_last_one_and_nothing_else_is_changed(arguments: list[str]) -> None:
    after = resumable(arguments)
    assert [word.removesuffix("=last") for word in after] == arguments
    followed = [*arguments[1:], ""]
    for word, made, following in zip(arguments, after, followed, strict=bool(arguments)):
        assert (made == "--resume=last") == (word == "--resume" and following != "7")
