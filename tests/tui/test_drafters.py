"""The table of drafters: what each did, in order of the time it took, and what the chooser thinks of it."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from predtui.state import events as ev
from predtui.state.codec import from_json, to_json
from predtui.tui.screens.drafters import DraftersScreen, table
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, machine, speculating
from tests.tui.test_app import settle
from tests.tui.test_snapshots import Compare

DRAFTERS = (
    ev.DrafterFigures("suffix", 40, 320, 240, 280, 1.5, 1.31, 2.75),
    ev.DrafterFigures("", 30, 0, 0, 30, 0.5),
    ev.DrafterFigures("recycling", new=0.82, repeating=0.9),
    ev.DrafterFigures("model", 20, 60, 45, 65, 2.0, 1.2, 1.1),
)
DECODING = ev.Decoding(turn=2, time=12.0, decoder="speculative + auto", proposed=6, accepted=4, drafters=DRAFTERS)


def told(app: Any) -> str:
    return str(app.screen.query_one("#drafters", Static).render())


async def opened(app: Any, pilot: Any) -> None:
    await settle(pilot)
    app.screen.query_one("CandidatePane").focus()
    await pilot.press("D")
    await pilot.pause()


def test_what_took_most_time_is_first_and_what_never_drafted_last() -> None:
    head, *lines = table(DRAFTERS)
    assert [line[:18].strip() for line in lines] == ["model", "suffix", "(no draft)", "recycling"]
    assert lines[1].split() == ["suffix", "75%", "7.0", "38%", "1.31x", "2.75x"]
    assert lines[-1].split() == ["recycling", "–", "–", "–", "0.82x", "0.90x"]
    assert {len(line) for line in (head, *lines)} == {len(head)}
    assert table(()) == []


def test_a_recorded_session_keeps_them() -> None:
    assert from_json(to_json(DECODING)) == DECODING


async def test_a_key_of_a_pane_opens_the_table_and_it_follows_the_turn(make_app: MakeApp) -> None:
    driver = ScriptedDriver([*machine(), *speculating()])
    app = make_app(driver)
    async with app.run_test() as pilot:
        await opened(app, pilot)
        assert isinstance(app.screen, DraftersScreen)
        assert "No draft was verified yet" in told(app)
        driver.emit(DECODING)
        await settle(pilot)
        app.screen.show()
        assert "suffix" in told(app)
        await pilot.press("escape")
        assert not isinstance(app.screen, DraftersScreen)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_table_of_drafters(snap_compare: Compare, make_app: MakeApp, size: tuple[int, int]) -> None:
    async def open_it(pilot: Pilot[None]) -> None:
        await opened(pilot.app, pilot)

    app = make_app(ScriptedDriver([*machine(), *speculating(), DECODING]))
    assert snap_compare(app, terminal_size=size, run_before=open_it)
