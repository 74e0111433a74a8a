"""The offer of the real models: made once, never in the way, and what comes of a yes, of a no and of a failure."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.models.fetch import Progress
from predtui.models.offer import Offer
from predtui.models.published import REAL
from predtui.settings import AsrSettings, LlmSettings, Settings
from predtui.tui.widgets.bars import NoticeBar
from predtui.tui.widgets.prompt import PromptLine
from predtui.tui.widgets.real import RealBar
from tests.absent import hide
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, by_path, machine
from tests.tui.test_app import plain, requests, settle, until

OFFERED = "real models hear people and talk about anything: 164 MB  F5 get  Esc no"
RENEWED = [("renew", "llm"), ("renew", "asr")]


class SlowFetch:
    """Half of it arrives at once, the rest with ``go_on``."""

    def __init__(self, problem: str = "") -> None:
        self._problem = problem
        self._go_on = threading.Event()
        self.cancelled = False

    def go_on(self) -> None:
        self._go_on.set()

    def cancel(self) -> None:
        self.cancelled = True
        self._go_on.set()

    def run(self, tell: Callable[[Progress], object]) -> bool:
        tell(Progress(82_000_000, 164_000_000))
        self._go_on.wait(20)
        if self._problem:
            raise PredtuiError(self._problem)
        return not self.cancelled


class TestOffer(Offer):
    """An offer of what ``fetching`` fetches."""

    __test__ = False

    def __init__(self, fetching: SlowFetch, settings: Settings = Settings()) -> None:  # noqa: B008 - frozen
        super().__init__(settings)
        self.fetching = fetching

    def fetch(self) -> SlowFetch:  # type: ignore[override]
        return self.fetching


@pytest.fixture(autouse=True)
def _state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PREDTUI_STATE_DIR", str(tmp_path / "state"))


async def test_it_is_offered_once_ever(make_app: MakeApp) -> None:
    for expected in (OFFERED, ""):
        app = make_app(offer=Offer(Settings()))
        async with app.run_test() as pilot:
            await settle(pilot)
            assert plain(app, RealBar).removeprefix("+ ") == expected
            assert app.query_one(RealBar).display is bool(expected)


async def test_what_is_typed_goes_to_the_input_line(make_app: MakeApp) -> None:
    driver = ScriptedDriver(machine())
    app = make_app(driver, offer=Offer(Settings()))
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press(*"yes n")
        assert app.query_one(PromptLine).value == "yes n"
        assert plain(app, RealBar).endswith(OFFERED)
        await pilot.press("enter")
        assert [line.text for line in driver.lines if line.final] == ["yes n"]
        assert requests(driver) == []


async def test_a_no_puts_it_away_and_the_key_still_gets_them(make_app: MakeApp) -> None:
    driver, fetching = ScriptedDriver(machine()), SlowFetch()
    app = make_app(driver, offer=TestOffer(fetching))
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("escape")
        assert not app.query_one(RealBar).display
        await pilot.press("f5")
        await until(pilot, lambda: "82 of 164 MB, 50%  F5 cancel" in plain(app, RealBar))
        await pilot.press(*"still here")
        assert app.query_one(PromptLine).value == "still here"
        fetching.go_on()
        await until(pilot, lambda: requests(driver)[1:] == RENEWED)
        assert not app.query_one(RealBar).display
        assert "take over" in plain(app, NoticeBar)


async def test_it_is_cancelled_by_the_same_key(make_app: MakeApp) -> None:
    driver, fetching = ScriptedDriver(machine()), SlowFetch()
    app = make_app(driver, offer=TestOffer(fetching))
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("f5")
        await until(pilot, lambda: "50%" in plain(app, RealBar))
        await pilot.press("escape")
        assert "50%" in plain(app, RealBar)
        await pilot.press("f5")
        await until(pilot, lambda: "nothing was installed" in plain(app, NoticeBar))
        assert fetching.cancelled
        assert ("renew", "llm") not in requests(driver)
        assert not app.query_one(RealBar).display


async def test_a_failure_is_one_line_and_changes_nothing(make_app: MakeApp) -> None:
    driver, fetching = ScriptedDriver(machine()), SlowFetch("The package index cannot be reached.")
    app = make_app(driver, offer=TestOffer(fetching))
    async with app.run_test() as pilot:
        await settle(pilot)
        fetching.go_on()
        await pilot.press("f5")
        await until(pilot, lambda: "cannot be reached. F5 tries again" in plain(app, NoticeBar))
        assert requests(driver) == []


async def test_an_app_that_is_left_leaves_no_download_behind(make_app: MakeApp) -> None:
    fetching = SlowFetch()
    app = make_app(offer=TestOffer(fetching))
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("f5")
        await until(pilot, lambda: "50%" in plain(app, RealBar))
    assert fetching.cancelled


@pytest.mark.parametrize(
    ("settings", "renewed"),
    [
        (Settings(), RENEWED),
        (Settings(llm=LlmSettings(model="pocket")), RENEWED[1:]),
        (Settings(asr=AsrSettings(model="pocket")), RENEWED[:1]),
        (Settings(LlmSettings(model="pocket"), AsrSettings(model="pocket")), []),
    ],
)
async def test_a_model_that_is_named_stays(
    make_app: MakeApp, settings: Settings, renewed: list[tuple[str, str]]
) -> None:
    driver, fetching = ScriptedDriver(machine()), SlowFetch()
    app = make_app(driver, offer=TestOffer(fetching, settings))
    async with app.run_test() as pilot:
        await settle(pilot)
        fetching.go_on()
        await pilot.press("f5")
        await until(pilot, lambda: "are installed" in plain(app, NoticeBar))
        assert requests(driver) == renewed


async def test_a_model_that_is_chosen_meanwhile_stays(make_app: MakeApp) -> None:
    driver, fetching = ScriptedDriver(machine()), SlowFetch()
    app = make_app(driver, offer=TestOffer(fetching), model_options=by_path)
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("f5", "f4", "down", "enter")
        fetching.go_on()
        await until(pilot, lambda: "take over" in plain(app, NoticeBar))
        assert [asked for asked in requests(driver) if asked[0] == "renew"] == RENEWED[1:]


def test_nothing_is_offered_that_nobody_would_use(monkeypatch: pytest.MonkeyPatch) -> None:
    named = Settings(LlmSettings(model="x.gguf"), AsrSettings(model="pocket"))
    assert not Offer(named).claim()
    hide(monkeypatch, "pip")
    assert not Offer(Settings()).claim()


def test_nothing_is_offered_where_it_could_not_be_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PREDTUI_STATE_DIR", str(tmp_path / "file"))
    assert not Offer(Settings()).claim()


def test_nothing_is_offered_where_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("PREDTUI_STATE_DIR", str(tmp_path / "state"))
    for model in REAL:
        (tmp_path / model.module / model.file).mkdir(parents=True)
        (tmp_path / model.module / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert Offer(Settings()).megabytes == 0
    assert not Offer(Settings()).claim()


async def test_a_recording_has_no_offer(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver(machine()), read_only=True)
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("f5")
        await settle(pilot)
        assert not app.query_one(RealBar).display
        assert "cannot be fetched here" in plain(app, NoticeBar)
