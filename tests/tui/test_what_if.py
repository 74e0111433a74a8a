"""What if, as a page: what can be chosen, how it is asked and given up, and how it looks."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from predtui.errors import PredtuiError
from predtui.settings import LlmSettings, Settings
from predtui.state import events as ev
from predtui.state.asked import asked
from predtui.state.memory import Memory
from predtui.state.turn import Turn
from predtui.tui import what_if
from predtui.tui.screens.whatif import Compared, Tell, WhatIfScreen, choices
from predtui.tui.scrubbing import Scrubbing
from predtui.tui.widgets.bars import NoticeBar
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, fold, machine
from tests.tui.test_app import plain
from tests.tui.test_comparison import NOW, THEN
from tests.tui.test_snapshots import Compare

RECORDED = Settings(llm=LlmSettings(model="pocket", verifier="greedy", decoder="ar"))
TYPED = [event for event in answered() if not isinstance(event, ev.TurnStarted | ev.Endpoint)]


def again(settings: Settings, tell: Tell, stopped: threading.Event, waits: bool = False) -> tuple[Turn, Sequence[str]]:
    tell("asking")
    if waits and stopped.wait(60):
        raise PredtuiError("given up.")
    if settings.llm.decoder == "duo":
        raise PredtuiError("no draft model.", "Get one.")
    return NOW, ["The replies differ.\n  as recorded: Paris.\n  what if: Lyon."]


async def settled(pilot: Pilot[None]) -> None:
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause(0.1)


def said(app: Any) -> str:
    return str(app.screen.query_one("#about", Static).render())


def told_by(app: Any) -> str:
    page = app.screen.query_one(Compared)
    return "\n".join(line.plain for line in page.draw(page.values, page.size.width, 0))


def test_every_other_verifier_decoder_and_model_can_be_chosen_and_nothing_else_changes() -> None:
    for choice in choices(RECORDED):
        changed = [
            name
            for name in ("model", "verifier", "decoder", "engine", "temperature")
            if getattr(choice.settings.llm, name) != getattr(RECORDED.llm, name)
        ]
        assert len(changed) == (0 if choice.line.startswith("nothing") else 1)
        assert choice.settings.audio == RECORDED.audio
    lines = [choice.line for choice in choices(RECORDED)]
    assert any("top3, not lossless" in line for line in lines)
    assert not any(line.startswith(("verifier  greedy", "decoder   ar")) for line in lines)


async def test_one_is_asked_and_another_after_it(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(100, 36)) as pilot:
        await app.push_screen(WhatIfScreen(THEN, RECORDED, again))
        await pilot.press("enter")
        await settled(pilot)
        shown = told_by(app)
        assert "+79 ms" in shown
        assert "what if: Lyon." in shown
        assert shown.count("▲ end of input") == 2
        await pilot.press("escape")
        assert app.screen.query_one(OptionList).display
        await pilot.press("escape")
        assert len(app.screen_stack) == 1


async def test_it_can_be_given_up_and_what_fails_says_why(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(100, 36)) as pilot:
        await app.push_screen(WhatIfScreen(THEN, RECORDED, partial(again, waits=True)))
        await pilot.press("enter")
        await pilot.pause(0.2)
        assert "asking" in said(app)
        await pilot.press("enter", "escape")
        await settled(pilot)
        assert said(app) == ""
        await pilot.press("escape")
        await app.push_screen(WhatIfScreen(THEN, RECORDED, again))
        names = [choice.line.split()[1] for choice in choices(RECORDED)]
        await pilot.press(*["down"] * names.index("duo,"), "enter")
        await settled(pilot)
        assert "✗ no draft model. Get one." in said(app)
        assert told_by(app) == ""


async def test_of_what_was_said_live_there_is_no_sound(make_app: MakeApp) -> None:
    driver, memory = ScriptedDriver(), Memory()
    driver.subscribe(memory)
    app = make_app(driver, scrub=Scrubbing(memory=memory))
    async with app.run_test(size=(100, 30)) as pilot:
        driver.emit(*machine(), *answered())
        await pilot.press("f8", "equals_sign")
        await settled(pilot)
        assert "the sound of turn 2 is not kept. Record the session" in " ".join(plain(app, NoticeBar).split())


async def test_of_what_was_typed_live_it_opens_on_the_turn_one_is_at(make_app: MakeApp) -> None:
    driver, memory = ScriptedDriver(), Memory()
    driver.subscribe(memory)
    app = make_app(driver, scrub=Scrubbing(memory=memory))
    async with app.run_test(size=(100, 30)) as pilot:
        driver.emit(*machine(), ev.TurnStarted(turn=2, time=10.0), *TYPED, ev.TurnStarted(turn=3, time=90.0))
        await pilot.press("f8", "left", "equals_sign")
        await settled(pilot)
        assert isinstance(app.screen, WhatIfScreen)
        assert "turn 2: what is the capital of france" in str(app.screen.query_one("#page").border_title)


def test_a_turn_is_found_behind_what_was_forgotten() -> None:
    begin = fold(machine())
    turn = asked([ev.TurnStarted(turn=2, time=10.0), *TYPED], 2, begin)
    assert turn.turn.stages == begin.stages
    assert callable(what_if.show)


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("told", [False, True], ids=["choices", "told"])
def test_what_if(snap_compare: Compare, make_app: MakeApp, size: tuple[int, int], told: bool) -> None:
    app = make_app(ScriptedDriver([*machine(), *answered()]))

    async def settle(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await app.push_screen(WhatIfScreen(THEN, RECORDED, again))
        await pilot.press(*["enter"] * told)
        await settled(pilot)

    assert snap_compare(app, terminal_size=size, run_before=settle)
