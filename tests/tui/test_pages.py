"""One page is open at a time, and what is chosen on one is asked for unless it answers already."""

from __future__ import annotations

from predtui.state import events as ev
from predtui.tui.palette import entries
from predtui.tui.panes import topics
from predtui.tui.screens.models import ModelScreen
from predtui.tui.screens.reading import ReadingScreen
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, by_path, machine
from tests.tui.test_app import requests, settle

POCKET = ev.StageStatus(stage="llm", state="ready", message="pocket · 5.9M · llama.cpp · cpu", time=1.0)


async def test_a_page_opens_where_none_is_open(make_app: MakeApp) -> None:
    app = make_app(model_options=by_path)
    async with app.run_test() as pilot:
        for open_page, kind in ((app.pages.help, ReadingScreen), (app.action_model, ModelScreen)):
            assert not app.pages.open
            open_page()
            await pilot.pause()
            assert isinstance(app.screen, kind)
            app.pages.explain("timeline")
            app.action_model()
            await pilot.pause()
            assert len(app.screen_stack) == 2
            await pilot.press("escape")


async def test_the_model_that_answers_already_is_not_asked_for_again(make_app: MakeApp) -> None:
    driver = ScriptedDriver([*machine(), POCKET])
    app = make_app(driver, model_options=by_path)
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("f4", "enter")
        await pilot.press("f4", "down", "enter")
        await pilot.pause()
    assert [(kind, name, options.model) for kind, name, options in requests(driver)] == [
        ("replace", "llm", "pocket-draft")
    ]


async def test_the_palette_explains_every_pane_and_hides_that_until_searched_for(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test():
        listed = entries(app)
        explained = {command.title: command.listed for command in listed if "Explain" in command.title}
    assert explained == {f"Explain: {topic}": False for topic in topics()}
