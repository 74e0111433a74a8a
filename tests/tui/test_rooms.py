"""The panes are the person's: whatever is done to them, one can type, and what is shown can be read."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot

from predtui.config import load
from predtui.settings import options
from predtui.tui.app import PredtuiApp
from predtui.tui.arranging import stacks
from predtui.tui.layout import PRESETS, Layout, layout
from predtui.tui.panes import topics
from predtui.tui.rooms import SOON
from predtui.tui.screens.main import MainScreen
from predtui.tui.widgets.pane import Pane
from predtui.tui.widgets.prompt import PromptLine
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, first_exchange, machine

names = st.sampled_from(list(topics()))
layouts = st.builds(
    Layout,
    st.sampled_from(PRESETS),
    st.frozensets(names),
    st.dictionaries(st.sampled_from([*topics(), "panes", "said"]), st.integers(1, 500)),
)


def busy(make_app: MakeApp) -> PredtuiApp:
    return make_app(ScriptedDriver([*machine(), *first_exchange(), *answered()]))


def main(app: PredtuiApp) -> MainScreen:
    assert isinstance(app.screen_stack[0], MainScreen)
    return app.screen_stack[0]


def panes(app: PredtuiApp) -> list[Pane[Any]]:
    return [pane for pane in main(app).query("Pane") if isinstance(pane, Pane)]


def places(app: PredtuiApp) -> dict[str, Any]:
    return {pane.TOPIC: pane.region for pane in panes(app) if shown(pane)}


def shown(pane: Pane[Any]) -> bool:
    return all(widget.display for widget in pane.ancestors_with_self if widget is not pane.app)


async def on(pilot: Pilot[None], topic: str) -> None:
    """The pane has the focus."""
    app = pilot.app
    assert isinstance(app, PredtuiApp)
    next(pane for pane in panes(app) if topic == pane.TOPIC).focus()
    await pilot.pause()


class TestChoices:
    @given(layouts)
    def test_what_is_kept_is_read_as_it_was(self, chosen: Layout) -> None:
        kept = {key.partition(".")[2]: value for key, value in chosen.kept.items()}
        assert layout(**kept) == chosen

    @given(st.text(), st.text(), st.text())
    def test_any_words_are_a_layout(self, preset: str, toggled: str, sizes: str) -> None:
        read = layout(preset, toggled, sizes)
        assert read.preset in PRESETS
        assert all(0 < share < 10_000 for share in read.sizes.values())

    @given(layouts, names)
    def test_what_is_hidden_and_shown_is_as_before(self, chosen: Layout, pane: str) -> None:
        assert chosen.toggle(pane).shows(pane) != chosen.shows(pane)
        assert chosen.toggle(pane).toggle(pane) == chosen
        assert chosen.zoom(pane).zoom(pane) == chosen
        assert [one for one in topics() if chosen.zoom(pane).shows(one)] == [pane]

    def test_presets_are_those_of_the_settings_and_show_panes_that_there_are(self) -> None:
        assert options()["ui.preset"].choices == PRESETS
        for preset in PRESETS:
            assert any(map(Layout(preset).shows, topics()))


def legible(app: PredtuiApp) -> None:
    """One can type, and read what is shown."""
    screen = main(app)
    width, height = app.size
    if screen.has_class("-tiny"):
        return
    prompt = screen.query_one(PromptLine).region
    assert prompt.height >= 1
    assert prompt.bottom <= height - 1
    assert prompt.width > 8
    bottom = 0
    for topic, region in places(app).items():
        assert region.height >= 2, (topic, region, app.size, screen.layout_of_panes)
        assert region.bottom <= prompt.y, (topic, region, app.size, screen.layout_of_panes)
        assert region.right <= width
        bottom = max(bottom, region.bottom)


SIZES = ((40, 12), (60, 16), (80, 24), (99, 29), (120, 36), (160, 30), (200, 50))
KEYS = ("z", "x", "X", "ctrl+down", "ctrl+up", "ctrl+left", "ctrl+right", "ctrl+l", "escape")


@pytest.mark.parametrize("seed", [2, 3])
async def test_whatever_is_done_to_panes_one_can_type_and_read(make_app: MakeApp, seed: int) -> None:
    chance = random.Random(seed)
    app = busy(make_app)
    async with app.run_test(size=(120, 36)) as pilot:
        for _ in range(25):
            if chance.random() < 0.3:
                await pilot.resize_terminal(*chance.choice(SIZES))
            seen = list(places(app))
            if seen:
                await on(pilot, chance.choice(seen))
            await pilot.press(*[chance.choice(KEYS)] * chance.choice((1, 1, 7)))
            await pilot.pause()
            await pilot.pause()
            legible(app)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("preset", PRESETS)
async def test_each_preset_at_each_size(make_app: MakeApp, preset: str, size: tuple[int, int]) -> None:
    app = busy(make_app)
    async with app.run_test(size=size) as pilot:
        main(app).lay_out(Layout(preset))
        await pilot.pause()
        legible(app)
        assert "conversation" in places(app)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_zoomed_hidden_and_back_is_as_before(make_app: MakeApp, size: tuple[int, int]) -> None:
    app = busy(make_app)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        before = places(app)
        for topic in topics():
            main(app).lay_out(main(app).layout_of_panes.zoom(topic))
            await pilot.pause()
            assert list(places(app)) == [topic], "the smallest window has room for one"
            legible(app)
            main(app).lay_out(main(app).layout_of_panes.zoom(topic))
            main(app).lay_out(main(app).layout_of_panes.toggle(topic))
            await pilot.pause()
            assert topic not in places(app)
            main(app).lay_out(main(app).layout_of_panes.toggle(topic))
            await pilot.pause()
            app.show_notice("")
            await pilot.pause()
            assert places(app) == before


class TestKeys:
    async def test_z_shows_one_pane_and_escape_or_z_all(self, make_app: MakeApp) -> None:
        app = busy(make_app)
        async with app.run_test(size=(120, 36)) as pilot:
            for back in ("z", "escape"):
                await on(pilot, "verifier")
                await pilot.press("z")
                await pilot.pause()
                assert list(places(app)) == ["verifier"]
                await pilot.press(back)
                await pilot.pause()
                assert len(places(app)) > 4

    async def test_letters_are_letters_in_the_input_line(self, make_app: MakeApp) -> None:
        app = busy(make_app)
        async with app.run_test(size=(120, 36)) as pilot:
            await pilot.press(*"xzX")
            assert app.screen.query_one(PromptLine).value == "xzX"
            assert main(app).layout_of_panes == Layout(app.settings.ui.preset)

    async def test_a_hidden_pane_gives_the_focus_to_the_input_line(self, make_app: MakeApp) -> None:
        app = busy(make_app)
        async with app.run_test(size=(120, 36)) as pilot:
            await on(pilot, "verifier")
            await pilot.press("x")
            await pilot.pause()
            assert isinstance(app.focused, PromptLine)

    async def test_keys_move_borders(self, make_app: MakeApp) -> None:
        app = busy(make_app)
        async with app.run_test(size=(120, 36)) as pilot:
            await on(pilot, "candidate")
            before = places(app)["candidate"]
            await pilot.press("ctrl+down", "ctrl+down", "ctrl+right")
            await pilot.pause()
            after = places(app)["candidate"]
            assert (after.height, after.width) == (before.height + 2, before.width + 3)

    async def test_a_choice_is_kept(self, make_app: MakeApp) -> None:
        app = busy(make_app)
        async with app.run_test(size=(120, 36)) as pilot:
            await on(pilot, "timeline")
            await pilot.press("x", "ctrl+l")
            await on(pilot, "candidate")
            await pilot.press("x")
            await pilot.pause(SOON + 0.2)
            chosen = main(app).layout_of_panes
        ui = load().ui
        assert layout(ui.preset, ui.toggled, ui.sizes) == chosen != Layout()

    async def test_a_settings_file_that_cannot_be_written_is_told_of(self, make_app: MakeApp, tmp_path: Path) -> None:
        (tmp_path / "config").write_text("a file where a folder should be")
        app = busy(make_app)
        async with app.run_test(size=(120, 36)) as pilot:
            await pilot.press("ctrl+l")
            await pilot.pause(SOON + 0.2)
            assert "cannot keep ui.preset" in str(app.screen.query_one("#notice").values)  # type: ignore[attr-defined]


class TestMouse:
    @pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)], ids=str)
    async def test_every_border_can_be_dragged(self, make_app: MakeApp, size: tuple[int, int]) -> None:
        app = busy(make_app)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            for at, stack in enumerate(list(stacks(main(app)))):
                for number, widget in enumerate(stack.widgets[1:], 1):
                    region = widget.region
                    x = region.x + region.width // 2 if stack.vertical else region.x
                    y = region.y if stack.vertical else region.y + region.height // 2
                    by = (0, -1) if stack.vertical else (-4, 0)
                    await pilot.mouse_down(offset=(x, y))
                    await pilot.hover(offset=(x + by[0], y + by[1]))
                    await pilot.mouse_up(offset=(x + by[0], y + by[1]))
                    await pilot.pause()
                    now = list(stacks(main(app)))[at].widgets[number].region
                    moved = now.y - region.y if stack.vertical else now.x - region.x
                    least = (stack.widgets[number - 1].region.height if stack.vertical else 99) <= 3
                    assert moved == sum(by) or (least and moved == 0), (widget, region, now)
                    legible(app)
            assert app.mouse_captured is None
