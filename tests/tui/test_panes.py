"""What every pane of the list keeps to: a new one is held to it by its line there."""

from __future__ import annotations

from typing import get_args

import pytest
from textual.css.stylesheet import Stylesheet

from predtui.state.turn import Turn
from predtui.tui.panes import PANES, Column, PaneEntry, panes_in, style_sheet, topics
from predtui.tui.screens.reading import help_screen
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, first_exchange, fold, machine, speculating

TURNS = [Turn(), fold(machine()), fold([*machine(), *first_exchange(), *speculating(4)]), fold(answered())]
names = [entry.factory for entry in PANES]


@pytest.mark.parametrize("entry", PANES, ids=names)
def test_a_pane_has_a_name_of_its_own_and_explains_what_it_shows(entry: PaneEntry) -> None:
    kind = entry.kind()
    assert kind.TOPIC
    assert [pane.kind().TOPIC for pane in PANES].count(kind.TOPIC) == 1
    assert kind.MEANINGS
    assert all(term and meaning for term, meaning in kind.MEANINGS)
    assert topics()[kind.TOPIC] == kind.MEANINGS


@pytest.mark.parametrize("entry", PANES, ids=names)
def test_its_style_sheet_is_about_itself(entry: PaneEntry) -> None:
    kind = entry.kind()
    sheet = Stylesheet()
    sheet.add_source(kind.ROOM)
    sheet.parse()
    assert sheet.rules
    for rule in sheet.rules:
        assert all(kind.__name__ in [part.name for part in chain.selectors] for chain in rule.selector_set)


@pytest.mark.parametrize("turn", TURNS, ids=["none", "ready", "speculating", "answered"])
@pytest.mark.parametrize("entry", PANES, ids=names)
def test_what_is_drawn_fits_at_every_size(entry: PaneEntry, turn: Turn) -> None:
    pane = entry.kind()(turn)
    for width in (38, 58, 98, 160):
        for height in range(1, 12):
            lines = pane.draw(pane.values, width, height)
            assert all(line.cell_length <= width for line in lines[:height]), (width, height)


@pytest.mark.parametrize("entry", PANES, ids=names)
def test_equal_turns_are_read_equal(entry: PaneEntry) -> None:
    pane = entry.kind()(TURNS[2])
    assert pane.read(TURNS[2]) == pane.values
    assert isinstance(hash(pane.values), int)


def test_each_stands_in_a_column_that_there_is() -> None:
    assert {entry.column for entry in PANES} <= set(get_args(Column))
    assert sum(len(panes_in(column)) for column in get_args(Column)) == len(PANES)


async def test_the_screen_and_the_help_have_them_all(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver(machine()))
    async with app.run_test(size=(200, 50)):
        for entry in PANES:
            pane = app.query_one(entry.kind())
            assert pane.region.height > 0, "the largest window shows every pane"
    assert style_sheet().count("Pane") >= len(PANES)
    assert [title for title, _ in help_screen()._sections[2:]] == [entry.kind().TOPIC.upper() for entry in PANES]
