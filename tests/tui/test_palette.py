"""The palette: in groups, nothing twice, each with its key, and all that Textual's own offers."""

from __future__ import annotations

import asyncio
from itertools import groupby
from pathlib import Path

import pytest
from textual.app import App
from textual.command import CommandList
from textual.widgets import HelpPanel

from predtui.state.memory import Memory
from predtui.tui.actions import action_named, actions
from predtui.tui.app import PredtuiApp
from predtui.tui.palette import GROUPS, entries
from predtui.tui.scrubbing import Scrubbing
from predtui.tui.widgets.bars import NoticeBar
from predtui.tui.widgets.conversation import ConversationPane
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, machine
from tests.tui.test_app import plain, settle
from tests.tui.test_snapshots import Compare, frozen

OURS = {
    "Theme": "Theme: midnight",
    "Quit": "Quit",
    "Keys": "Keys",
    "Maximize": "Zoom or maximise",
    "Screenshot": "Screenshot",
}
"""What Textual calls an entry of its own, and what stands for it here."""


@pytest.mark.parametrize("place", ["live", "recording", "looking back"])
async def test_nothing_stands_there_twice_and_groups_stand_together(make_app: MakeApp, place: str) -> None:
    driver, memory = ScriptedDriver(), Memory()
    driver.subscribe(memory)
    app = make_app(driver, read_only=place == "recording", scrub=Scrubbing(memory=memory))
    async with app.run_test() as pilot:
        await settle(pilot)
        driver.emit(*machine(), *answered())
        if place == "looking back":
            await pilot.press("f8")
        found = entries(app)
    titles = [entry.title for entry in found]
    assert len(set(titles)) == len(titles)
    stand = [group for group, _ in groupby(found, key=lambda entry: entry.group)]
    assert stand == [group for group in GROUPS if group in stand]
    assert ("time" in stand) == (place == "looking back")


async def test_each_shows_the_first_of_its_keys(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test():
        keys = {entry.title: entry.key for entry in entries(app)}
    for action in actions():
        if action.title in keys:
            assert keys[action.title] == (action.spelled() if action.keys else "")
    assert [keys[title] for title in ("Help", "Zoom or maximise", "Save as JSON")] == ["F1", "z", ""]


async def test_all_that_textual_offers_by_itself_is_there(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        app.query_one(ConversationPane).focus()
        await pilot.pause()
        theirs = {command.title for command in App.get_system_commands(app, app.screen)}
        ours = {entry.title for entry in entries(app)}
    assert {OURS[title] for title in theirs} <= ours
    assert theirs == set(OURS)


async def pick(app: PredtuiApp, words: str) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+p", *words)
        while not app.screen.query_one(CommandList).option_count:
            await asyncio.sleep(0.02)
        await pilot.press("enter")
        while app.pages.open:
            await asyncio.sleep(0.02)
        await settle(pilot)
        await settle(pilot)


async def test_a_screenshot_is_of_what_lies_behind_the_palette(make_app: MakeApp, tmp_path: Path) -> None:
    app = make_app(ScriptedDriver([*machine(), *answered()]))
    await pick(app, "screenshot")
    (picture,) = tmp_path.glob("predtui-*.svg")
    svg = picture.read_text(encoding="utf-8")
    assert "CONVERSATION" in svg
    assert "Search" not in svg


async def test_a_screenshot_that_cannot_be_written_says_so(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("predtui.tui.saving.replace_text", full)
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await app.run_action(action_named("screenshot").action)
        for _ in range(3):
            await settle(pilot)
        assert "no space left" in plain(app, NoticeBar)


async def test_a_screenshot_in_a_folder_that_is_gone_is_one_line(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await app.run_action(action_named("screenshot").action)
        for _ in range(3):
            await settle(pilot)
        assert app.query_one(NoticeBar).values[0] == "warning"


async def test_the_keys_come_and_go_beside_the_panes(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        for shown in (1, 0):
            await app.run_action(action_named("keys").action)
            await settle(pilot)
            assert len(app.screen.query(HelpPanel)) == shown
        binds = [bound.binding for bound in app.screen.active_bindings.values()]
        assert all(bind.description for bind in binds if bind.action.startswith(("cursor", "delete", "app.perform")))


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("words", ["", "save"])
def test_the_palette(snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], words: str) -> None:
    assert frozen(snap_compare, make_app, size, "answered", ["ctrl+p", *words])
