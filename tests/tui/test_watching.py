"""Utilisation is sampled only while somebody sees it."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from predtui.tui.app import PredtuiApp
from predtui.tui.widgets.utilisation import UtilisationPane
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver


async def settle(pilot: Pilot[None]) -> None:
    await pilot.app.workers.wait_for_complete()
    for _ in range(4):
        await pilot.pause()


def focus(app: PredtuiApp) -> None:
    app.query_one(UtilisationPane).focus()


@pytest.mark.parametrize(
    ("preset", "size", "seen"),
    [
        ("all", (120, 36), True),
        ("lab", (80, 24), True),
        ("chat", (120, 36), False),
        ("demo", (120, 36), False),
        ("lab", (80, 18), False),  # no room for it
        ("lab", (30, 10), False),  # too small for anything
    ],
)
async def test_the_driver_is_told_at_once(make_app: MakeApp, preset: str, size: tuple[int, int], seen: bool) -> None:
    driver = ScriptedDriver()
    async with make_app(driver, preset=preset).run_test(size=size) as pilot:
        await settle(pilot)
        assert driver.watched[-1:] == [seen]


async def test_hidden_and_shown_zoomed_and_under_a_page(make_app: MakeApp) -> None:
    driver = ScriptedDriver()
    app = make_app(driver, preset="all")
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        driver.watched.clear()
        for keys, seen in [
            (["f1"], [False]),  # the help over it
            (["escape"], [True]),
            (["z"], []),  # alone
            (["z"], []),
            (["x"], [False]),  # hidden
        ]:
            focus(app)
            await pilot.press(*keys)
            await settle(pilot)
            assert driver.watched == seen, keys
            driver.watched.clear()
        app.query_one("ConversationPane").focus()
        for keys, seen in [(["X"], [True]), (["z"], [False]), (["z"], [True])]:
            await pilot.press(*keys)
            await settle(pilot)
            assert driver.watched == seen, keys
            driver.watched.clear()
        await pilot.resize_terminal(40, 12)
        await settle(pilot)
        assert driver.watched == [False]


async def test_the_pane_of_stages_shows_samples_too(make_app: MakeApp) -> None:
    driver = ScriptedDriver()
    app = make_app(driver, preset="lab")
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        driver.watched.clear()
        for topic in ("utilisation", "stages"):
            app.query_one(f"{topic.capitalize()}Pane").focus()
            await pilot.press("x")
            await settle(pilot)
        assert driver.watched == [False]


async def test_a_recording_is_asked_for_nothing(make_app: MakeApp) -> None:
    driver = ScriptedDriver()
    app = make_app(driver, read_only=True)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        assert not driver.watched
        assert not app.screen.query_one("NoticeBar").display
