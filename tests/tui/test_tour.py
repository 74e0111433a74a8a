"""The tour: a question types itself, its figures are those of the turn, and whoever types ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from predtui.settings import SessionsSettings, Settings, UiSettings
from predtui.state import events as ev
from predtui.tui import tour
from predtui.tui.app import PredtuiApp
from predtui.tui.widgets.bars import NoticeBar
from predtui.tui.widgets.prompt import PromptLine
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, first_exchange, fold, machine, speculating


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour, "EVERY_S", 0.01)


async def until(pilot: Pilot[Any], there: Any) -> None:
    for _ in range(500):
        if there():
            return
        await pilot.pause(0.02)
    raise AssertionError("it did not come")


async def test_it_types_its_question_and_tells_what_that_saved(make_app: MakeApp) -> None:
    driver = ScriptedDriver([*machine(), *first_exchange()])
    app = make_app(driver)
    async with app.run_test(size=(120, 36)) as pilot:
        await app.run_action("app.perform('tour')")
        await until(pilot, lambda: driver.lines and driver.lines[-1].final)
        assert driver.lines[-1].text == tour.QUESTION
        assert [line.text for line in driver.lines[:-1] if line.text] == [
            tour.QUESTION[:count] for count in range(1, len(tour.QUESTION) + 1)
        ]
        driver.emit(*answered())
        assert all(line.aside for line in driver.lines if line.text)
        assert app.screen.query_one(PromptLine).recall.matching("") == []
        saved = round(driver.state.baseline_audio_latency_ms - driver.state.audio_latency_ms)  # type: ignore[operator]
        await until(pilot, lambda: f"saved {saved} ms" in str(app.screen.query_one(NoticeBar).values))


async def test_who_types_ends_it_and_keeps_what_was_typed(make_app: MakeApp) -> None:
    driver = ScriptedDriver(machine())
    app = make_app(driver)
    async with app.run_test() as pilot:
        prompt = app.screen.query_one(PromptLine)
        await app.run_action("app.perform('tour')")
        await until(pilot, lambda: len(prompt.value) > 3)
        await pilot.press("x", "y")
        await until(pilot, lambda: prompt.value == "xy")
        await pilot.pause(0.1)
        assert prompt.value == "xy"
        assert not any(line.final for line in driver.lines)
        assert [line.text for line in driver.lines if not line.aside][-1] == "xy"
        await pilot.press("enter")
        assert prompt.recall.matching("") == ["xy"]


@pytest.mark.parametrize(
    ("stages", "typed", "told"), [([], "", "once it is ready"), (machine(), "a", "empty the input")]
)
async def test_it_does_not_begin_in_the_way(make_app: MakeApp, stages: list[ev.Event], typed: str, told: str) -> None:
    driver = ScriptedDriver(stages)
    app = make_app(driver)
    async with app.run_test() as pilot:
        await pilot.press(*typed)
        await app.run_action("app.perform('tour')")
        await pilot.pause(0.1)
        assert told in str(app.screen.query_one(NoticeBar).values)
        assert app.screen.query_one(PromptLine).value == typed


async def test_the_same_question_is_in_earnest_where_the_user_asks_it(make_app: MakeApp) -> None:
    driver = ScriptedDriver(machine())
    app = make_app(driver)
    async with app.run_test() as pilot:
        await app.run_action("app.perform('tour')")
        await until(pilot, lambda: driver.lines and driver.lines[-1].final)
        await pilot.press(*tour.QUESTION, "enter")
        await until(pilot, lambda: [line.text for line in driver.lines if line.final] == [tour.QUESTION] * 2)
        assert [line.aside for line in driver.lines if line.final] == [True, False]
        assert app.screen.query_one(PromptLine).recall.matching("") == [tour.QUESTION]


async def test_escape_ends_it_and_nothing_of_it_stays(make_app: MakeApp) -> None:
    driver = ScriptedDriver(machine())
    app = make_app(driver)
    async with app.run_test() as pilot:
        prompt = app.screen.query_one(PromptLine)
        await app.run_action("app.perform('tour')")
        await until(pilot, lambda: len(prompt.value) > 3)
        await pilot.press("escape")
        await pilot.pause(0.1)
        assert prompt.value == ""
        assert app.tour is None


class TestFirstStart:
    @pytest.fixture(autouse=True)
    def _never_started(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("PREDTUI_STATE_DIR", str(tmp_path / "state"))

    async def test_the_tour_comes_once_the_stages_are_there_and_never_again(self, make_app: MakeApp) -> None:
        assert tour.wanted(Settings())
        driver = ScriptedDriver([])
        app = make_app(driver, welcome=tour.welcome)
        async with app.run_test() as pilot:
            await pilot.pause(0.2)
            assert app.tour is None
            driver.emit(*machine())
            await until(pilot, lambda: app.tour)
        assert not tour.wanted(Settings())

    async def test_who_types_first_has_no_tour_and_is_asked_no_more(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver([])
        app = make_app(driver, welcome=tour.welcome)
        async with app.run_test() as pilot:
            await pilot.press("h", "i")
            await until(pilot, lambda: not tour.wanted(Settings()))
            driver.emit(*machine())
            await pilot.pause(0.2)
            assert app.tour is None
            assert app.screen.query_one(PromptLine).value == "hi"

    def test_who_wants_none_or_nothing_kept_has_none(self) -> None:
        assert not tour.wanted(Settings(ui=UiSettings(tour=False)))
        assert not tour.wanted(Settings(sessions=SessionsSettings(private=True)))

    async def test_where_nothing_can_be_written_it_comes_all_the_same(
        self, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("PREDTUI_STATE_DIR", str(tmp_path / "file" / "state"))
        app = make_app(ScriptedDriver(machine()), welcome=tour.welcome)
        async with app.run_test() as pilot:
            await until(pilot, lambda: app.tour)


def test_what_is_told_is_what_was_measured() -> None:
    turn = fold([*machine(), *answered()])
    assert tour.outcome(turn) == (
        "tour: the guess was right, saved 75 ms: first sound 21 ms after Enter, 96 ms without. "
        "Tab, then ? explains a pane, S checks your sound."
    )
    assert "is being measured" in tour.outcome(replace(turn, baseline=None))
    assert tour.outcome(fold(machine())) == ""


def typed(events: list[ev.Event]) -> list[ev.Event]:
    """The same, had the keys said it."""
    return [
        replace(event, source="typed", aside=True) if isinstance(event, ev.TurnStarted) else event
        for event in events
        if not isinstance(event, ev.Endpoint) and not (isinstance(event, ev.Work) and event.stage == "asr")
    ]


SHOWN: dict[str, tuple[int, list[ev.Event]]] = {
    "begins": (4, []),
    "guesses": (20, typed(speculating(4))),
    "ends": (len(tour.QUESTION) + 1, typed(answered())),
}
"""Steps, and what has come of them by then."""


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("scene", SHOWN)
def test_the_tour(
    snap_compare: Callable[..., bool],
    make_app: MakeApp,
    size: tuple[int, int],
    scene: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As it begins to type, while the reply is guessed, and with what that saved."""
    monkeypatch.setattr(tour, "EVERY_S", 1e6)
    driver = ScriptedDriver(machine())
    steps, events = SHOWN[scene]

    async def toured(pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app, PredtuiApp)
        shown = tour.Tour(pilot.app)
        shown._left = 2 * steps
        for _ in range(steps):
            shown._step()
        driver.emit(*events)
        await pilot.pause()
        shown._step()

    assert snap_compare(make_app(driver, preset="all"), terminal_size=size, run_before=toured)
