"""Earlier prompts, and earlier conversations, on the screen: recalled, searched, gone on with, saved, deleted."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from predtui.state.exchange import Exchange
from predtui.state.kept import kept_file
from predtui.state.kept.export import markdown
from predtui.state.kept.keeper import Keeper
from predtui.state.kept.store import Store
from predtui.tui.app import PredtuiApp
from predtui.tui.screens.search import SearchScreen
from predtui.tui.screens.sessions import SessionsScreen
from predtui.tui.widgets.bars import NoticeBar
from predtui.tui.widgets.prompt import PromptLine
from tests.state.exchanges import of_json
from tests.state.kept.test_keeper import until
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, first_exchange, machine

SPAIN = (
    Exchange("what is the capital of spain", "Madrid."),
    Exchange("and who lives there", "Many people do.", True, "Many"),
)
SPIDER = (Exchange("how many legs has a spider", "Eight."),)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two sessions; SPAIN is 1, SPIDER is 2."""
    monkeypatch.setenv("PREDTUI_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    with Store(kept_file(), "before") as store:
        for dialogue in (SPAIN, SPIDER):
            number = 0
            for place, exchange in enumerate(dialogue):
                number = store.put(number, place, exchange)


def with_prompts(make_app: MakeApp, driver: ScriptedDriver) -> PredtuiApp:
    keeper = Keeper(kept_file(), lambda: driver.state, driver.emit)
    until(lambda: len(keeper.prompts) == 3)
    return make_app(driver, keeper=keeper)


async def settled(pilot: Pilot[None]) -> None:
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def listed(app: PredtuiApp) -> list[str]:
    options = app.screen.query_one(OptionList).options
    return [str(option.prompt) for option in options]


@pytest.mark.usefixtures("kept")
async def test_up_and_down_recall_prompts_of_earlier_sessions_and_enter_sends_one(make_app: MakeApp) -> None:
    driver = ScriptedDriver(machine())
    app = with_prompts(make_app, driver)
    async with app.run_test() as pilot:
        await settled(pilot)
        prompt = app.query_one(PromptLine)
        await pilot.press("up", "up")
        assert prompt.value == "and who lives there"
        await pilot.press("down")
        assert prompt.value == "how many legs has a spider"
        await pilot.press("enter", "up")
        await settled(pilot)
        assert [line.text for line in driver.lines if line.final] == ["how many legs has a spider"]
        assert prompt.value == "how many legs has a spider"
        assert driver.lines[-1].text == prompt.value  # it is guessed at, as if it had been typed
        await pilot.press("x", "up")
        assert prompt.value == "how many legs has a spiderx"


@pytest.mark.usefixtures("kept")
async def test_ctrl_r_searches_while_one_types_and_sends_nothing(make_app: MakeApp) -> None:
    driver = ScriptedDriver(machine())
    app = with_prompts(make_app, driver)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("ctrl+r", *"a")
        assert len(listed(app)) == 3
        await pilot.press(*"s")
        assert listed(app) == ["how many legs has a spider"]
        await pilot.press("escape", "shift+tab")  # to a pane
        await pilot.press("ctrl+r", *"a", "ctrl+r", "enter")
        await settled(pilot)
        assert app.query_one(PromptLine).has_focus
        assert app.query_one(PromptLine).value == "and who lives there"
        assert not any(line.final for line in driver.lines)
        await pilot.press("ctrl+r", *"zz")
        assert isinstance(app.screen, SearchScreen)
        await pilot.press("enter")
        assert app.query_one(PromptLine).value == "and who lives there"


@pytest.mark.usefixtures("kept")
async def test_a_session_is_found_by_what_was_said_and_gone_on_with(make_app: MakeApp) -> None:
    driver = ScriptedDriver(machine())
    app = with_prompts(make_app, driver)
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("f7")
        await settled(pilot)
        assert ["begin a new" in listed(app)[0], "spider" in listed(app)[1], "spain" in listed(app)[2]] == [True] * 3
        await pilot.press(*"MANY PEOPLE")
        await settled(pilot)
        assert len(listed(app)) == 2
        await pilot.press("enter")
        await settled(pilot)
        assert not isinstance(app.screen, SessionsScreen)
        assert driver.asked[-1] == ("resume", 1, SPAIN)
        await pilot.press("f7")
        await settled(pilot)
        await pilot.press("up", "up", "enter")
        assert driver.asked[-1] == ("resume", 0, ())


@pytest.mark.usefixtures("kept")
async def test_a_session_is_deleted_after_a_yes_and_not_after_a_no(make_app: MakeApp) -> None:
    app = with_prompts(make_app, ScriptedDriver(machine()))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("f7")
        await settled(pilot)
        await pilot.press("delete", "n")
        await settled(pilot)
        assert len(listed(app)) == 3
        await pilot.press("delete", "y")
        await settled(pilot)
        assert len(listed(app)) == 2
        assert "spain" in listed(app)[1]
    with Store(kept_file()) as store:
        assert [one.number for one in store.sessions()] == [1]


@pytest.mark.usefixtures("kept")
async def test_a_session_is_named_and_found_by_its_name(make_app: MakeApp) -> None:
    app = with_prompts(make_app, ScriptedDriver(machine()))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("f7")
        await settled(pilot)
        await pilot.press("ctrl+e", "escape", "ctrl+e", "ctrl+u", *"insects")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert listed(app)[1].endswith("insects")
        await pilot.press(*"sect")
        await settled(pilot)
        assert len(listed(app)) == 2


@pytest.mark.usefixtures("kept")
async def test_what_is_saved_has_the_name_of_its_session(make_app: MakeApp, tmp_path: Path) -> None:
    with Store(kept_file()) as store:
        store.rename(1, "the spain talk")
    app = with_prompts(make_app, ScriptedDriver([*machine(), *first_exchange()]))
    assert app.keeper is not None
    app.keeper.session = 1
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("ctrl+s")
        await settled(pilot)
        (present,) = tmp_path.glob("predtui-the-spain-talk-*.md")
        assert present.read_text().startswith("# the spain talk\n\n> how many legs")
        present.unlink()
        await pilot.press("f7", *"talk")
        await settled(pilot)
        await pilot.press("ctrl+s")
        await settled(pilot)
        (chosen,) = tmp_path.glob("predtui-the-spain-talk-*.md")
        assert chosen.read_text() == markdown(SPAIN, "the spain talk")
        await pilot.press(*["backspace"] * 4, *"spider")
        await settled(pilot)
        await pilot.press("ctrl+s")
        await settled(pilot)
        (unnamed,) = set(tmp_path.glob("predtui-*.md")) - {chosen}
        assert unnamed.read_text() == markdown(SPIDER)


@pytest.mark.usefixtures("kept")
async def test_rows_are_laid_out_anew_where_the_window_is_another(make_app: MakeApp) -> None:
    app = with_prompts(make_app, ScriptedDriver(machine()))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("f7")
        await settled(pilot)
        await pilot.press("down")
        wide, at = listed(app), app.screen.query_one(OptionList).highlighted
        await pilot.resize_terminal(40, 12)
        await settled(pilot)
        slim = listed(app)
        assert not any("turn" in row for row in slim[1:])
        assert app.screen.query_one(OptionList).highlighted == at == 2
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        assert listed(app) == wide
        assert all("turn" in row for row in wide[1:])


@pytest.mark.usefixtures("kept")
async def test_the_session_under_way_is_marked_and_not_deleted(make_app: MakeApp) -> None:
    app = with_prompts(make_app, ScriptedDriver(machine()))
    assert app.keeper is not None
    app.keeper.session = 2
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("f7")
        await settled(pilot)
        assert listed(app)[1].startswith("●")
        await pilot.press("delete")
        await settled(pilot)
        assert "under way" in str(app.screen.query_one("#about", Static).content)


@pytest.mark.parametrize("broken", [True, False])
async def test_a_list_that_cannot_be_read_says_why(
    make_app: MakeApp, broken: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PREDTUI_DATA_DIR", str(tmp_path / "data"))
    if broken:
        kept_file().parent.mkdir(parents=True)
        kept_file().write_bytes(b"nothing of use" * 999)
    app = make_app(ScriptedDriver(machine()))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("f7")
        await settled(pilot)
        told = str(app.screen.query_one("#about", Static).content)
        assert ("Move it away" if broken else "No conversation is kept yet") in told
        assert app.screen.query_one(Input).has_focus
        await pilot.press("escape")
        assert not isinstance(app.screen, SessionsScreen)


async def test_the_conversation_is_saved_in_the_folder_one_is_in(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    app = make_app(ScriptedDriver([*machine(), *first_exchange()]))
    async with app.run_test(size=(200, 50)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+s")
        await settled(pilot)
        (saved,) = tmp_path.glob("predtui-*.md")
        assert saved.read_text() == "> how many legs has a spider\n\nA spider has eight legs.\n"
        assert str(saved) in app.query_one(NoticeBar).values[1]
        app.action_perform("save_json")
        await settled(pilot)
        (data,) = tmp_path.glob("predtui-*.json")
        assert of_json(data.read_text()) == list(app.turn.conversation)


async def test_what_cannot_be_saved_is_one_line(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    app = make_app(ScriptedDriver(machine()))
    async with app.run_test(size=(200, 50)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+s")
        await settled(pilot)
        assert app.query_one(NoticeBar).values == ("warning", "Nothing has been said yet.")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    app = make_app(ScriptedDriver([*machine(), *first_exchange()]))
    async with app.run_test(size=(200, 50)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+s")
        await settled(pilot)
        severity, text = app.query_one(NoticeBar).values
        assert severity == "warning"
        assert "\n" not in text
