"""Plain words first: NFE and RTF are shown where somebody asks for figures, and explained where they are met."""

from __future__ import annotations

import re

import pytest

from predtui.config import load
from predtui.settings import Settings
from predtui.state import events as ev
from predtui.tui.actions import key_of
from predtui.tui.glossary import WORDS
from predtui.tui.layout import FIGURES, LAB, PRESETS, Layout, layout
from predtui.tui.panes import topics
from predtui.tui.rooms import SOON
from predtui.tui.screens.reading import help_screen
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, first_exchange, machine
from tests.tui.test_rooms import main, on

FORESEEN = [
    ev.TurnStarted(turn=3, time=20.0),
    ev.Continuation(turn=3, prompt="what is up", sentence="Up is a way.", forwards=9, ms=90.0),
    ev.Transcript(turn=3, revision=1, time=21.0, stable="what is up", unfinished=False, final=True),
    ev.Candidate(turn=3, revision=1, time=21.0, prompt="what is up", kept="Up is a way.", tokens=5),
    ev.Verdict(turn=3, revision=1, time=21.1, outcome="accept", accepted=5, of=5, forwards=0, ms=1.0, final=True),
    ev.Synthesis(turn=3, ready=4, released=2, real_time_factor=0.25),
    ev.ReplyFinished(turn=3, revision=1, time=22.0, prompt="what is up", text="Up is a way.", ttfs_ms=1.0),
]
JARGON = re.compile(r"\bNFE\b|\bRTF\b|forwards")


def busy() -> ScriptedDriver:
    return ScriptedDriver([*machine(), *first_exchange(), *answered(), *FORESEEN])


def said(app: object) -> str:
    """All that panes and their titles show."""
    panes = [pane for pane in app.screen_stack[0].query("Pane") if pane.region]  # type: ignore[attr-defined]
    lines = [line.plain for pane in panes for line in pane.document()]
    return "\n".join([*lines, *(str(pane.border_title) for pane in panes)])


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)], ids=str)
@pytest.mark.parametrize("preset", PRESETS)
async def test_figures_are_shown_in_the_lab_or_where_they_are_asked_for(
    make_app: MakeApp, preset: str, size: tuple[int, int]
) -> None:
    app = make_app(busy(), preset=preset)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert bool(JARGON.search(said(app))) == (preset == LAB)
        app.action_perform("figures")
        await pilot.pause()
        assert bool(JARGON.search(said(app))) == (preset != LAB and preset != "chat")


async def test_at_first_words_are_plain_and_tell_what_was_saved(make_app: MakeApp) -> None:
    assert Settings().ui.preset == Layout().preset
    app = make_app(busy(), preset=Settings().ui.preset)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        assert "kept 5 of 5 tokens" in said(app)
        assert "saved 89 ms" in said(app)


async def test_the_key_is_kept_with_the_panes_and_keeps_the_one_that_is_zoomed(make_app: MakeApp) -> None:
    app = make_app(busy(), preset="all")
    async with app.run_test(size=(120, 36)) as pilot:
        await on(pilot, "verifier")
        await pilot.press("z", "F")
        await pilot.pause()
        assert main(app).layout_of_panes.zoomed == "verifier"
        assert "NFE" in said(app)
        await pilot.press("z")
        await pilot.pause(SOON + 0.2)
    ui = load().ui
    again = layout(ui.preset, ui.toggled, ui.sizes)
    assert again.figured
    assert again.toggled == {FIGURES}
    assert all(again.shows(pane) for pane in topics())


def test_what_is_shown_is_explained() -> None:
    every = dict(WORDS)
    assert {"NFE", "RTF", "token", "lossless"} <= every.keys()
    told = dict(help_screen()._sections)["WORDS"]
    assert len(told) == len(WORDS)
    assert any(key_of("figures") in meaning for _, meaning in told)
    assert not any("{" in meaning for _, meaning in told)
