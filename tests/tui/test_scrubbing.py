"""To and fro in time: the keys of a replay, the bar, and how both look."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from textual.events import Key, Paste
from textual.pilot import Pilot

from predtui.clock import VirtualClock
from predtui.state import events as ev
from predtui.state.memory import Memory
from predtui.state.replay import Replay
from predtui.tui.app import PredtuiApp
from predtui.tui.messages import KeysTyped
from predtui.tui.scrubbing import Scrubbing
from predtui.tui.widgets.bars import NoticeBar, TopBar
from predtui.tui.widgets.conversation import ConversationPane
from predtui.tui.widgets.keybar import KeyBar
from predtui.tui.widgets.scrubber import ScrubBar, clock
from predtui.tui.widgets.verifier import VerifierPane
from tests.state.test_player import EVENTS
from tests.state.test_session import record
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, first_exchange, fold, machine
from tests.tui.test_app import plain
from tests.tui.test_snapshots import LOADED, Compare

Opened = Callable[[list[ev.Event]], tuple[PredtuiApp, Replay]]


@pytest.fixture
def opened(make_app: MakeApp, tmp_path: Path) -> Opened:
    def of(events: list[ev.Event]) -> tuple[PredtuiApp, Replay]:
        record(tmp_path / "s", events)
        replay = Replay(tmp_path / "s", VirtualClock())
        return make_app(replay, read_only=True, scrub=Scrubbing(replay)), replay

    return of


async def begun(pilot: Pilot[None]) -> None:
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def at(replay: Replay) -> tuple[int, float]:
    return replay.state.number, round(replay.position.moment + 1.0, 3)


async def test_each_key_goes_where_it_says(opened: Opened) -> None:
    app, replay = opened([*EVENTS])
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        assert replay.position.playing
        assert at(replay) == (1, 10.0), "the start-up is skipped"
        keys: list[tuple[str, tuple[int, float]]] = [
            ("space", (1, 10.0)), ("right", (1, 12.0)), ("full_stop", (1, 13.0)), ("right", (2, 22.0)),
            ("left", (1, 13.0)), ("comma", (1, 12.0)), ("greater_than_sign", (2, 20.0)), ("less_than_sign", (1, 10.0)),
            ("shift+right", (2, 20.0)), ("end", (2, 24.0)), ("shift+left", (2, 20.0)), ("home", (1, 10.0)),
        ]  # fmt: skip
        for key, there in keys:
            await pilot.press(key)
            assert (key, at(replay)) == (key, there)
        assert not replay.position.playing
        for _ in range(2):
            await pilot.press("right_square_bracket")
        await pilot.press("left_square_bracket")
        assert replay.position.speed == 2.0


async def test_the_keys_act_wherever_the_focus_is_but_not_on_a_page(opened: Opened) -> None:
    app, replay = opened([*EVENTS])
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        for pane in (VerifierPane, ConversationPane):
            app.query_one(pane).focus()
            await pilot.press("space", "end", "less_than_sign")
            assert at(replay) == (2, 20.0)
        await pilot.press("home", "f1", "end", "space")
        assert at(replay) == (1, 10.0)
        await pilot.press("escape", "ctrl+p", *"next turn", "enter")
        await begun(pilot)
        assert at(replay) == (2, 20.0), "the palette knows them, too"


async def test_where_there_is_only_now_they_are_what_they_were(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"a.b", "left", "space", "home", "less_than_sign", "end", "right_square_bracket")
        assert app._main.query_one("#prompt").value == "<a. b]"  # type: ignore[attr-defined]
        assert not app.query_one(ScrubBar).display
        assert "Space" not in plain(app, KeyBar)


async def test_the_bar_tells_where_one_is_and_is_clicked(opened: Opened) -> None:
    app, replay = opened([*EVENTS])
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("space", "right")
        await pilot.pause(0.15)
        line = plain(app, ScrubBar)
        assert "❚❚ 0:11.0 / 0:23.0" in line
        assert "1x" in line
        assert "Verdict" in line
        assert "●" in line
        assert line.count("┼") + line.count("┿") == 2
        await pilot.click(ScrubBar, offset=(1 + line.index("●") + 20, 0))
        assert at(replay)[0] == 2
        await pilot.click(ScrubBar, offset=(79, 0))
        assert at(replay) == (2, 24.0)
        await pilot.click(ScrubBar, offset=(2, 0))
        assert at(replay) == (2, 24.0), "beside the track nothing happens"


async def test_going_back_raises_no_notice_again(opened: Opened) -> None:
    told = "no microphone"
    app, _ = opened([ev.Notice(text=told, time=1.0, severity="warning"), *EVENTS])
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press("end", "escape", "home")
        await pilot.pause(0.3)
        assert told not in plain(app, NoticeBar)


def test_time_is_told_as_players_do() -> None:
    assert [clock(seconds) for seconds in (0.0, 3.24, 59.96, 760.0)] == ["0:00.0", "0:03.2", "1:00.0", "12:40.0"]


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_paused(snap_compare: Compare, opened: Opened, size: tuple[int, int]) -> None:
    app, _ = opened([*machine(), LOADED, *first_exchange(), *answered()])

    async def settle(pilot: Pilot[None]) -> None:
        await begun(pilot)
        await pilot.press("space", "end", "left", "left", "left")
        await pilot.pause(0.3)

    assert snap_compare(app, terminal_size=size, run_before=settle)


# --- looking back in a session that goes on ---------------------------------------------------------------------------

SESSION = [*machine(), LOADED, *first_exchange(), *answered()]


@pytest.fixture
def live(make_app: MakeApp) -> tuple[PredtuiApp, ScriptedDriver]:
    driver, memory = ScriptedDriver(), Memory()
    driver.subscribe(memory)
    return make_app(driver, scrub=Scrubbing(memory=memory)), driver


def conversation(app: PredtuiApp) -> str:
    return plain(app, ConversationPane)


async def looked(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause(0.2)


async def test_one_looks_back_and_comes_back_to_now(live: tuple[PredtuiApp, ScriptedDriver]) -> None:
    app, driver = live
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        driver.emit(*SESSION)
        await looked(pilot, "f8", "less_than_sign")
        assert app.query_one(ScrubBar).display
        assert "LOOKING BACK" in plain(app, TopBar)
        assert "Esc now" in plain(app, KeyBar)
        assert "spider" in conversation(app)
        assert "france" not in conversation(app)
        await looked(pilot, "less_than_sign", "less_than_sign")
        assert "spider" not in conversation(app)
        await looked(pilot, "escape")
        assert "Paris" in conversation(app)
        assert not app.query_one(ScrubBar).display
        assert "LOOKING BACK" not in plain(app, TopBar)
        assert ("silence",) not in driver.asked
        await looked(pilot, "f8", "f8", "escape")
        assert ("silence",) in driver.asked, "a second Esc means what it always does"


async def test_what_goes_on_goes_on_and_is_there_afterwards(live: tuple[PredtuiApp, ScriptedDriver]) -> None:
    app, driver = live
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        driver.emit(*SESSION)
        await looked(pilot, "f8", "less_than_sign")
        driver.emit(
            ev.TurnStarted(turn=3, time=30.0, source="voice"),
            ev.Transcript(turn=3, revision=1, time=31.0, stable="and of spain", unfinished=False, final=True),
            ev.ReplyCommitted(turn=3, revision=1, time=31.1, text="Madrid."),
            ev.Playback(turn=3, revision=1, time=31.2, state="started"),
            ev.Notice(text="something has happened", severity="warning"),
        )
        await looked(pilot)
        assert "Madrid" not in conversation(app)
        assert "something has happened" in plain(app, NoticeBar), "what happens now is told now"
        assert "♪" in plain(app, TopBar)
        await looked(pilot, "escape")
        assert "Madrid" in conversation(app)
        await looked(pilot, "f8", "less_than_sign")
        assert "Madrid" not in conversation(app)


@pytest.mark.parametrize("how", ["keys", "burst", "paste"])
async def test_typing_is_for_now_and_not_lost(live: tuple[PredtuiApp, ScriptedDriver], how: str) -> None:
    app, driver = live
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        driver.emit(*SESSION)
        await looked(pilot, *"so", "f8", "left", "space", "full_stop")
        assert app.scrub.past
        if how == "keys":
            await looked(pilot, *"me. w")
        elif how == "burst":
            app.post_message(KeysTyped([Key("space" if key == " " else key, key) for key in " me. w"]))
            await looked(pilot)
        else:
            app.post_message(Paste(" me. w"))
            await looked(pilot)
        assert driver.lines[-1].text == ("some. w" if how == "keys" else "so me. w")
        assert app.scrub.past is None
        assert "Paris" in conversation(app)


async def test_talking_is_for_now(live: tuple[PredtuiApp, ScriptedDriver]) -> None:
    app, driver = live
    async with app.run_test(size=(100, 30)) as pilot:
        await begun(pilot)
        driver.emit(*SESSION)
        await looked(pilot, "f8", "f2")
        assert ("talk", True) in driver.asked
        assert app.scrub.past is None


async def test_a_replay_has_no_now_to_look_back_from(opened: Opened) -> None:
    app, replay = opened([*EVENTS])
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await looked(pilot, "end", "f8", "escape")
        assert app.scrub.player is replay
        assert at(replay) == (2, 24.0)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_looking_back(snap_compare: Compare, live: tuple[PredtuiApp, ScriptedDriver], size: tuple[int, int]) -> None:
    app, driver = live

    async def settle(pilot: Pilot[None]) -> None:
        await begun(pilot)
        driver.emit(*SESSION)
        await looked(pilot, *"and of s", "f8", "left", "left", "left")
        await pilot.pause(0.3)

    assert snap_compare(app, terminal_size=size, run_before=settle)


async def test_a_verdict_that_is_chosen_shows_what_was_guessed_then(make_app: MakeApp) -> None:
    memory = Memory()
    driver = ScriptedDriver([])
    driver.subscribe(memory)
    app = make_app(driver, scrub=Scrubbing(memory=memory))
    async with app.run_test(size=(120, 36)) as pilot:
        await begun(pilot)
        told = [*machine(), *first_exchange(), *answered()]
        driver.emit(*told)
        await pilot.pause(0.2)
        pane = app.query_one(VerifierPane)
        verdicts = pane.values.verdicts[::-1]
        assert len(verdicts) > 3
        for row, verdict in enumerate(verdicts[:4]):
            await pilot.click(VerifierPane, offset=(4, 2 + row))
            await pilot.pause(0.1)
            assert app.scrub.past == fold(told[: told.index(verdict) + 1])
            assert pane.values.verdicts[-1] == verdict
            await pilot.press("escape")
            await pilot.pause(0.1)
            assert app.scrub.past is None
        pane.focus()
        await pilot.press("down", "enter")
        await pilot.pause(0.1)
        assert app.scrub.past
        driver.emit(ev.TurnStarted(turn=9, time=90.0))
        await pilot.pause(0.1)  # until it is drawn
        await pilot.press("escape")
        pane.values = pane.values._replace(verdicts=(ev.Verdict(turn=99, revision=1, outcome="accept"),))
        await pilot.press("enter")
        assert app.scrub.past is None
        assert "no longer remembered" in str(app.screen.query_one(NoticeBar).values)
