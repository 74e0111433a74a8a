"""The bar of a pane and the lines in view agree, whoever moves them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.scrollbar import ScrollBar

from predtui.tui.scrollbar import thumb
from predtui.tui.widgets.conversation import ConversationPane
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, machine
from tests.tui.test_app import many_turns, plain, settle


@given(st.integers(2, 60), st.integers(1, 60), st.integers(1, 3000), st.data())
def test_the_thumb_stands_at_an_end_only_where_the_lines_do(
    size: int, window: int, hidden: int, data: st.DataObject
) -> None:
    position = data.draw(st.integers(0, hidden))
    start, end = thumb(size, window + hidden, window, position)
    assert 0 <= start < end <= size
    if size - (end - start) > 1:
        assert (start == 0) == (position == 0)
        assert (end == size) == (position == hidden)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 60))
def test_there_is_no_thumb_where_all_is_in_view(size: int, window: int, lines: int) -> None:
    assert thumb(size, min(lines, window), window, 0) == (0, 0)


def first_line(pane: ConversationPane) -> int:
    """Of all lines, the one on the first row in view, by its text, which each has once."""
    lines = [line.plain for line in pane.document()]
    return lines.index(plain(pane.app, ConversationPane).splitlines()[0])


async def agrees(pilot: Pilot[None]) -> None:
    await settle(pilot)
    pane = pilot.app.query_one(ConversationPane)
    bar = pane.query_one(ScrollBar)
    assert bar.display
    assert bar.position == first_line(pane)
    assert bar.window_virtual_size == len(pane.document())
    assert bar.region.height == bar.window_size


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
async def test_keys_wheel_and_bar_move_the_same_lines(make_app: MakeApp, size: tuple[int, int]) -> None:
    app = make_app(ScriptedDriver([*machine(), *many_turns(1, 60)]))
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        pane = app.query_one(ConversationPane)
        bar = pane.query_one(ScrollBar)
        pane.focus()
        for key in ("pageup", "up", "pageup", "pagedown", "down", "end"):
            await pilot.press(key)
            await agrees(pilot)
        newest = first_line(pane)
        await pilot.click(ScrollBar, offset=(0, 0))
        await agrees(pilot)
        assert first_line(pane) == newest - bar.window_size
        start, _ = thumb(bar.region.height, bar.window_virtual_size, bar.window_size, bar.position)
        await pilot.mouse_down(ScrollBar, offset=(0, start))
        await pilot.hover(ScrollBar, offset=(0, 0))
        await pilot.mouse_up(ScrollBar, offset=(0, 0))
        await agrees(pilot)
        assert first_line(pane) < newest - bar.window_size
        await pilot.press("end")
        assert "newer" not in str(pane.border_title)


async def test_where_all_is_in_view_there_is_no_bar(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver([*machine(), *many_turns(1, 2)]))
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        assert not app.query_one(ConversationPane).query_one(ScrollBar).display
