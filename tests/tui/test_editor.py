"""The input line in an editor of the person's own: its text goes there and comes back, whatever fails is one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.state import events as ev
from predtui.tui import editor
from predtui.tui.app import PredtuiApp
from predtui.tui.widgets.bars import NoticeBar
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver
from tests.tui.test_app import plain, requests, settle, typed
from tests.tui.test_keys import line

SHOUT = "import sys; p = sys.argv[1]; t = open(p).read(); open(p, 'w').write(t.upper() + 'two\\n\\n')"


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The app can lend its terminal, as a real one does."""

    @contextmanager
    def suspend(app: PredtuiApp) -> Iterator[None]:
        yield

    monkeypatch.setattr(PredtuiApp, "suspend", suspend)


def script(folder: Path, code: str) -> str:
    """The call of an editor that does this."""
    file = folder / "an editor.py"
    file.write_text(code)
    return f"'{sys.executable}' '{file}'"


@pytest.mark.usefixtures("lent")
@pytest.mark.skipif(sys.platform == "win32", reason="a command is quoted in another way there")
class TestEditing:
    async def test_the_text_comes_back_as_it_was_left_and_can_be_undone(
        self, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("VISUAL", script(tmp_path, SHOUT))
        monkeypatch.setenv("EDITOR", "false")
        driver = ScriptedDriver()
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press(*"one", "ctrl+g")
            await pilot.pause()
            assert line(app) == "ONE\ntwo"
            assert typed(driver)[-1] == ("ONE\ntwo", 7)
            await pilot.press("!", "enter")
            assert [text for text, cursor in typed(driver) if cursor is None] == ["ONE\ntwo!"]
            await pilot.press(*"one", "ctrl+g", "ctrl+underscore")
            assert line(app) == "one"

    @pytest.mark.parametrize(
        ("called", "says"),
        [
            ("no-such-editor -w", "no-such-editor is not there"),
            ("'half", "is no command"),
            ("FAILS", "ended with status 3"),
            ("REMOVES", "cannot be read again"),
        ],
    )
    async def test_what_fails_is_one_line_and_nothing_is_lost(
        self, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, called: str, says: str
    ) -> None:
        codes = {"FAILS": "raise SystemExit(3)", "REMOVES": "import os, sys; os.remove(sys.argv[1])"}
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", script(tmp_path, codes[called]) if called in codes else called)
        app = make_app()
        async with app.run_test(size=(200, 50)) as pilot:
            await settle(pilot)
            await pilot.press(*"mine", "ctrl+g")
            await pilot.pause()
            notice = plain(app, NoticeBar)
            assert says in notice
            assert "\n" not in notice
            assert line(app) == "mine"

    async def test_nobody_is_listened_to_meanwhile(
        self, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("VISUAL", script(tmp_path, ""))
        driver = ScriptedDriver([ev.TurnStarted(turn=1, source="voice", time=1.0)])
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press("ctrl+g")
            await pilot.pause()
            assert requests(driver) == [("silence",)]


async def test_without_a_terminal_it_says_so(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", sys.executable)
    app = make_app()
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("a", "ctrl+g")
        await pilot.pause()
        assert "needs a terminal" in plain(app, NoticeBar)
        assert line(app) == "a"


def test_where_none_is_named_one_that_is_there_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"vi", "nano"}
    monkeypatch.setattr(editor.shutil, "which", lambda name: name if name in there else None)
    monkeypatch.setattr(editor, "USUAL", ("editor", "nano", "vi"))
    assert editor.command({}) == ["nano"]
    assert editor.command({"EDITOR": "vi -e", "VISUAL": ""}) == ["vi", "-e"]
    there.clear()
    with pytest.raises(PredtuiError, match="There is no editor"):
        editor.command({})
