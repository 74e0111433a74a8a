"""The input line: lines of text, as a plain model edits them; how high it is; what it tells."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.events import Key, Paste

from predtui.clock import VirtualClock
from predtui.lab.bench.fuzz_typing import Keyboard, Stroke
from predtui.runtime.typing import Typed
from predtui.tui.messages import LineTyped
from predtui.tui.widgets.prompt import PromptLine
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, machine
from tests.tui.test_app import settle, typed
from tests.tui.test_keys import burst, line, quiet

EDITS = ("enter", "ctrl+j", "left", "right", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k")
STROKES = st.one_of(
    st.sampled_from([*"abé .?", *EDITS]).map(lambda key: Stroke(key, 0.0)),
    st.sampled_from(["one two", "a\nb\r\n\nc", "\n", "\tx\n"]).map(lambda text: Stroke(text, 0.0, pasted=True)),
)


class Alone(App[None]):
    """The line alone, in a window so narrow that words wrap; it keeps what is told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Typed] = []

    def compose(self) -> ComposeResult:
        yield PromptLine(VirtualClock(1.0))

    def on_line_typed(self, message: LineTyped) -> None:
        self.told.append(message.typed)

    def send(self, strokes: Sequence[Stroke]) -> None:
        for key, pasted in ((stroke.key, stroke.pasted) for stroke in strokes):
            name = "space" if key == " " else key
            self.post_message(Paste(key) if pasted else Key(name, key if len(key) == 1 else None))


async def told_of(strokes: Sequence[Stroke]) -> list[tuple[str, int | None, bool]]:
    app = Alone()
    async with app.run_test(size=(12, 10)) as pilot:
        app.query_one(PromptLine).focus()
        await pilot.pause()
        app.send(strokes)
        await quiet(pilot)
    return [(typed.text, typed.cursor, typed.final) for typed in app.told]


@settings(max_examples=25, deadline=None)
@given(st.lists(STROKES, max_size=40))
def test_any_script_of_edits_tells_what_a_plain_model_does(strokes: list[Stroke]) -> None:
    keyboard, wanted, last = Keyboard(), [], ("", 0)
    for stroke in strokes:
        told = keyboard.press(stroke)
        if told is not None and ((told.text, told.cursor) != last or told.final):
            wanted.append((told.text, told.cursor, told.final))
        last = (keyboard.text, keyboard.cursor)
    assert asyncio.run(told_of(strokes)) == wanted


@settings(max_examples=10, deadline=None)
@given(st.lists(STROKES.filter(lambda stroke: stroke.key != "enter"), max_size=20))
def test_undone_to_the_start_and_redone_it_is_the_same_text(strokes: list[Stroke]) -> None:
    async def run() -> None:
        app = Alone()
        async with app.run_test(size=(12, 10)) as pilot:
            prompt = app.query_one(PromptLine)
            prompt.focus()
            await pilot.pause()
            keyboard = Keyboard()
            for stroke in strokes:
                keyboard.press(stroke)
            app.send(strokes)
            await quiet(pilot)
            for key, end in (("ctrl+underscore", ""), ("ctrl+y", keyboard.text)):
                for _ in range(len(strokes)):
                    app.post_message(Key(key, None))
                await quiet(pilot)
                assert prompt.text == end
                assert not app.told or app.told[-1].text == end, "what is undone is told"

    asyncio.run(run())


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_it_grows_up_to_a_share_of_the_window_and_shrinks_back(make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app(ScriptedDriver([*machine(), *answered()]))
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        prompt = app.query_one(PromptLine)
        most = max(2, size[1] // 5)
        heights = []
        for count in range(1, most + 4):
            heights.append(prompt.region.height)
            assert app.screen.region.contains_region(prompt.region)
            assert prompt.scroll_offset.y == max(0, count - most), "the cursor is in sight"
            await pilot.press("ctrl+j")
            await pilot.pause()
        assert heights == [min(count, most) for count in range(1, most + 4)]
        await pilot.press("x", "enter")
        await pilot.pause()
        assert prompt.region.height == 1
        burst(app, *"y" * prompt.region.width)
        await quiet(pilot)
        assert prompt.region.height == 2, "a long line is shown whole"
        await pilot.resize_terminal(200, 50)
        await pilot.pause()
        assert prompt.region.height == 1


async def test_a_letter_lays_nothing_out_anew_unless_a_row_is_added(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(ScriptedDriver([*machine(), *answered()]))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press(*"so ")
        await pilot.pause()
        arranged: list[object] = []
        reflow = app.screen._refresh_layout
        monkeypatch.setattr(app.screen, "_refresh_layout", lambda *o, **k: (arranged.append(o), reflow(*o, **k))[1])
        await pilot.press(*"what is", "left", "backspace", "end", "ctrl+w")
        await pilot.pause()
        assert not arranged
        await pilot.press("ctrl+j")
        await pilot.pause()
        assert arranged


async def test_what_is_behind_enter_belongs_to_the_next_prompt_and_lines_stay_in_this_one(make_app: MakeApp) -> None:
    driver = ScriptedDriver()
    app = make_app(driver)
    async with app.run_test() as pilot:
        await settle(pilot)
        burst(app, *"a b", "ctrl+j", *"c", "enter", *"next", "alt+enter", "x", "shift+enter", "y")
        await quiet(pilot)
        assert [text for text, cursor in typed(driver) if cursor is None] == ["a b\nc"]
        assert line(app) == "next\nx\ny"
        assert typed(driver)[-1] == ("next\nx\ny", 8)


async def test_set_from_elsewhere_it_can_be_undone(make_app: MakeApp) -> None:
    driver = ScriptedDriver()
    app = make_app(driver)
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press(*"mine")
        app.query_one(PromptLine).value = "another\x1b[2J\r\nline"
        await pilot.pause()
        assert typed(driver)[-1] == ("another [2J\nline", 16)
        await pilot.press("ctrl+underscore")
        assert line(app) == "mine"


async def test_a_prompt_of_several_lines_is_recalled_whole_and_walked_through_line_by_line(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await settle(pilot)
        burst(app, *"first", "enter", *"a", "ctrl+j", *"b", "enter", "up")
        await quiet(pilot)
        assert line(app) == "a\nb"
        burst(app, "up")
        await quiet(pilot)
        assert line(app) == "a\nb", "the cursor has gone up"
        burst(app, "up")
        await quiet(pilot)
        assert line(app) == "first"
        burst(app, "down", "down", "down")
        await quiet(pilot)
        assert line(app) == ""
