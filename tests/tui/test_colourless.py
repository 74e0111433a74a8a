"""NO_COLOR: no colour is drawn, and what a colour alone would show is reversed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color

from predtui.models.shipped import themes_folder
from predtui.tui.colourless import STANDS_OUT, Colourless, contrast
from predtui.tui.themes import load_themes
from predtui.tui.widgets.prompt import PromptLine
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver
from tests.tui.test_snapshots import SCENES, SIZES

THEMES = load_themes([themes_folder()]).themes
COLOURS = st.none() | st.builds(RichColor.from_rgb, *[st.integers(0, 255)] * 3) | st.just(RichColor.default())
STYLES = st.none() | st.builds(
    Style, color=COLOURS, bgcolor=COLOURS, bold=st.booleans(), strike=st.booleans(), reverse=st.booleans()
)


@given(st.text(max_size=3), STYLES, st.sampled_from(THEMES))
def test_no_colour_is_left_and_everything_else_is(text: str, style: Style | None, theme: object) -> None:
    ground = Color.parse(theme.background)  # type: ignore[attr-defined]
    (drawn,) = Colourless(lambda: ground).apply([Segment(text, style)], ground)
    assert drawn.text == text
    if style is None or drawn.style is None:
        assert drawn.style is style
        return
    assert all(colour is None or colour.is_default for colour in (drawn.style.color, drawn.style.bgcolor))
    assert (drawn.style.bold, drawn.style.strike) == (style.bold, style.strike)
    own = style.bgcolor
    coloured = own is not None and not own.is_default and contrast(own.get_truecolor(), ground.rgb) >= STANDS_OUT
    assert drawn.style.reverse == (coloured or bool(style.reverse))


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_surfaces_are_one_ground_and_inks_stand_out_of_it(theme: object) -> None:
    colours = {name: Color.parse(getattr(theme, name)).rgb for name in ("background", "surface", "panel", "primary")}
    ground = colours["background"]
    assert max(contrast(colours[name], ground) for name in ("surface", "panel")) < STANDS_OUT
    assert contrast(colours["primary"], ground) > STANDS_OUT


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("theme", ["midnight", "daylight"])
async def test_no_line_of_the_screen_has_a_colour(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], theme: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = make_app(ScriptedDriver(SCENES["speculating"]), theme)
    async with app.run_test(size=size) as pilot:
        await pilot.press(*"what", "shift+left")
        await pilot.pause()
        assert app.screen.query_one(PromptLine).selected_text == "t"
        strips = app.screen._compositor.render_strips(None)
    styles = [segment.style for strip in strips for segment in strip if segment.style]
    assert any(style.reverse for style in styles)
    for style in styles:
        assert all(colour is None or colour.is_default for colour in (style.color, style.bgcolor))
