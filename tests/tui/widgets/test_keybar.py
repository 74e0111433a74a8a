"""The line of keys: each that it shows does something now, those that one wants most come first, and none is cut."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content
from textual.pilot import Pilot

from predtui.state import events as ev
from predtui.state.memory import Memory
from predtui.state.turn import Turn
from predtui.tui.actions import footer
from predtui.tui.app import PredtuiApp
from predtui.tui.scrubbing import Scrubbing
from predtui.tui.widgets.bars import NoticeBar
from predtui.tui.widgets.conversation import ConversationPane
from predtui.tui.widgets.find import FindBar
from predtui.tui.widgets.keybar import KeyBar, Keys
from predtui.tui.widgets.prompt import PromptLine
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, by_path, first_exchange, machine, speculating
from tests.tui.test_ahead import known
from tests.tui.test_app import plain, settle

WIDTHS = [40, 80, 120, 200]
KEYS = st.builds(
    Keys, *[st.booleans()] * 2, st.sampled_from(["tap", "repeat", "release"]), *[st.booleans()] * 3,
    st.sampled_from(["idle", "typing", "listening", "recognising", "replying", "done"]), *[st.booleans()] * 2,
)  # fmt: skip


def drawn(keys: Keys, width: int) -> Content:
    (line,) = KeyBar(Turn()).draw(keys, width, 1)
    return line


def shown(keys: Keys, width: int = 400) -> list[str]:
    """The names of the actions, by what a click on each would do."""
    by_click = {action.action: action.name for action in footer()}
    styles = [span.style for span in drawn(keys, width).spans]
    return [by_click[style.meta["action"]] for style in styles if not isinstance(style, str) and style.meta]


@given(KEYS, st.integers(40, 200))
def test_what_fits_is_the_beginning_of_what_there_is(keys: Keys, width: int) -> None:
    assert drawn(keys, width).cell_length <= width
    every, some = shown(keys), shown(keys, width)
    assert some
    assert every[: len(some)] == some
    assert len(set(every)) == len(every)


@given(KEYS)
def test_none_is_shown_where_it_is_not_bound_or_has_nothing_to_do(keys: Keys) -> None:
    actions = {action.name: action for action in footer()}
    for name in shown(keys):
        action = actions[name]
        assert keys.on_pane or not action.on_pane
        assert keys.in_time or not action.in_time
        assert not (keys.read_only and action.live)
        assert not (action.on_line and keys.on_pane)
        assert action.keys
    acts = keys.phase in ("listening", "recognising", "replying") or keys.in_time
    assert ("silence" in shown(keys)) == (acts and not keys.read_only)
    assert ("submit" in shown(keys)) == (keys.written and not keys.on_pane and not keys.in_time)


QUIET = Keys()
SAID = Keys(said=True, phase="done")
FIRST = {
    "nothing was said": (QUIET, ["talk", "help"]),
    "one types": (Keys(written=True, phase="typing"), ["submit", "help"]),
    "it may go on so": (Keys(written=True, foreseen=True, phase="typing"), ["submit", "accept_word"]),
    "one talks": (Keys(phase="listening"), ["talk", "silence"]),
    "a reply is awaited": (Keys(said=True, phase="recognising"), ["talk", "silence"]),
    "a reply is heard": (Keys(said=True, phase="replying"), ["talk", "silence"]),
    "one types behind a reply": (Keys(said=True, written=True, phase="replying"), ["submit", "talk", "silence"]),
    "a pane has the focus": (SAID._replace(on_pane=True), ["talk", "explain", "copy"]),
    "one looks back": (SAID._replace(in_time=True), ["silence", "pause", "verdict", "turn"]),
    "a recording plays": (SAID._replace(in_time=True, read_only=True), ["pause", "verdict", "turn"]),
}


@pytest.mark.parametrize("moment", FIRST)
@pytest.mark.parametrize("width", WIDTHS)
def test_first_comes_what_one_wants_most(moment: str, width: int) -> None:
    keys, first = FIRST[moment]
    assert shown(keys, width)[: len(first)] == first


@pytest.mark.parametrize(
    ("keys", "words"),
    [(Keys(phase="listening"), ["F2 send", "Esc drop"]), (Keys(phase="replying"), ["F2 talk over it", "Esc silence"])],
)
def test_words_are_those_of_the_moment(keys: Keys, words: list[str]) -> None:
    assert all(word in drawn(keys, 40).plain for word in words)


# --- in the app -------------------------------------------------------------------------------------------------------

AFTER = [*machine(), *first_exchange(), *answered()]
TYPED = [ev.TurnStarted(turn=1), ev.Transcript(turn=1, revision=1, stable="wh"), *known("what is love")]
MOMENTS: dict[str, tuple[list[str], list[ev.Event]]] = {
    "nothing was said": ([], machine()),
    "it may go on so": ([*"wh"], [*machine(), *TYPED]),
    "one talks": ([], [*machine(), *speculating(3)]),
    "a reply is heard": ([], [*machine(), *answered()[:-3]]),
    "a pane has the focus": ([], AFTER),
    "one looks back": ([], AFTER),
}


async def come(pilot: Pilot[None], driver: ScriptedDriver, moment: str) -> None:
    """To that moment."""
    keys, events = MOMENTS[moment]
    await settle(pilot)
    await pilot.press(*keys)
    driver.emit(*events)
    await settle(pilot)
    if moment == "a pane has the focus":
        pilot.app.query_one(ConversationPane).focus()
    if moment == "one looks back":
        await pilot.press("f8", "less_than_sign")
    await settle(pilot)


def state(app: PredtuiApp, driver: ScriptedDriver) -> tuple[Any, ...]:
    """All that a key may change."""
    main, player = app._main, app.scrub.player
    return (
        len(driver.asked), len(driver.lines), app.clipboard, len(app.screen_stack), app.theme, app._exit,
        main.layout_of_panes, main.query_one(PromptLine).text, main.query_one(FindBar).display,
        player and player.position[2:],
    )  # fmt: skip


def same(app: PredtuiApp, keys: Keys) -> bool:
    """Whether the app is still at that moment, so that the next key may be tried without a new one."""
    player = app.scrub.player
    moving = bool(player and player.position.playing)
    return app.query_one(KeyBar).values == keys and len(app.screen_stack) == 1 and not (app._exit or moving)


@pytest.mark.parametrize("moment", MOMENTS)
async def test_every_key_that_is_shown_does_something(make_app: MakeApp, moment: str) -> None:
    """Those that stand everywhere are tried where nothing was said. What-if says what it lacks: no test for it here."""
    every, left = {action.name: action for action in footer()}, [""]
    while left:
        driver, memory = ScriptedDriver(), Memory()
        driver.subscribe(memory)
        app = make_app(driver, scrub=Scrubbing(memory=memory), model_options=by_path)
        async with app.run_test(size=(200, 50)) as pilot:
            await come(pilot, driver, moment)
            keys = app.query_one(KeyBar).values
            if left == [""]:
                here = [every[name] for name in shown(keys, 200) if name != "what_if"]
                everywhere = moment == "nothing was said"
                left = [one.name for one in here if everywhere or one.rank_at(keys.moments) < 2]
                assert left
            while left and same(app, keys):
                name, before = left.pop(0), state(app, driver)
                await pilot.press(every[name].keys.split(",")[0])
                await settle(pilot)
                assert state(app, driver) != before, f"{name}: {plain(app, NoticeBar)}"
                if app.pages.open:
                    await pilot.press("escape")


async def test_a_click_on_a_key_of_the_input_line_does_what_the_key_does(make_app: MakeApp) -> None:
    driver = ScriptedDriver()
    app = make_app(driver)
    async with app.run_test(size=(80, 24)) as pilot:
        await come(pilot, driver, "it may go on so")
        await pilot.click("#keys", offset=(plain(app, KeyBar).index("take") + 1, 0))
        assert app.query_one(PromptLine).value == "what"
        await pilot.click("#keys", offset=(plain(app, KeyBar).index("send") + 1, 0))
        await settle(pilot)
        assert driver.lines[-1].final
        assert "send" not in plain(app, KeyBar)


@given(KEYS)
def test_stages_are_tried_again_where_one_has_failed_and_nowhere_else(keys: Keys) -> None:
    offered = keys.failed and not keys.in_time and not keys.read_only
    assert ("again" in shown(keys)) == offered
