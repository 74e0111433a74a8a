"""A person's own keys: each action does what it did by any other key, and what is wrong with their file is told."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predtui.state import events as ev
from predtui.tui import actions
from predtui.tui.actions import ACTIONS, bound, key_of
from predtui.tui.keymap import Bound, named, read_keymap
from predtui.tui.keys import PRESETS
from predtui.tui.palette import entries
from predtui.tui.screens.reading import help_screen
from predtui.tui.widgets.conversation import ConversationPane
from predtui.tui.widgets.keybar import KeyBar
from predtui.tui.widgets.prompt import PromptLine
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, first_exchange, machine
from tests.tui.test_app import plain, settle

FREE = ["f10", "f11", "f12", "ctrl+o", "alt+z", "ctrl+b"]
NAMES = st.sampled_from([one.name for one in bound()])


@pytest.fixture(autouse=True)
def _usual_keys() -> Iterator[None]:
    yield
    actions.use({})


def written(folder: Path, text: str) -> Path:
    file = folder / "keys.toml"
    file.write_text(text, encoding="utf-8")
    return file


def asked(turn: int) -> list[ev.Event]:
    return [replace(event, turn=turn) for event in first_exchange()]


def clashes(chosen: dict[str, str]) -> list[tuple[str, str]]:
    """Pairs of one scope that have a key in common."""
    every = [(one.name, one.scope, set(chosen.get(one.name, one.keys).split(",")) - {""}) for one in bound()]
    return [
        (a, b) for a, where, keys in every for b, there, others in every if a < b and where == there and keys & others
    ]


def test_every_name_is_one_alone_and_no_key_does_two_things() -> None:
    assert len({one.name for one in bound()}) == len(bound())
    assert not clashes({})


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_names_what_there_is_and_no_key_does_two_things(tmp_path: Path, preset: str) -> None:
    keymap = read_keymap(written(tmp_path, f'preset = "{preset}"'), bound())
    assert not keymap.problems
    assert keymap.keys == PRESETS[preset]
    assert not clashes(dict(keymap.keys))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(NAMES, st.sampled_from([*FREE, "f3", "f4", "ctrl+t", "y", "", "Esc", "home"]), max_size=6))
def test_whatever_is_chosen_no_key_does_two_things_and_quitting_has_one(tmp_path: Path, own: dict[str, str]) -> None:
    text = "[keys]\n" + "".join(f'{name} = "{key}"\n' for name, key in own.items())
    keymap = read_keymap(written(tmp_path, text), bound())
    assert not clashes(dict(keymap.keys))
    assert keymap.keys.get("quit", "ctrl+q")
    refused = own.keys() - {name for name, key in own.items() if keymap.keys.get(name) == named(key or " ").strip()}
    assert len(keymap.problems) >= len(refused)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(max_size=80), st.binary(max_size=80)))
def test_any_file_is_keys_or_a_line(tmp_path: Path, content: str | bytes) -> None:
    file = tmp_path / "keys.toml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    keymap = read_keymap(file, bound())
    assert all("\n" not in problem for problem in keymap.problems)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[keys]\nverifer = 'f10'", "keys.verifer: there is no such action; did you mean verifier?"),
        ("[keys]\nverifier = 10", 'keys.verifier: write keys as "f10"'),
        ("[keys]\nverifier = 'f99'", "keys.verifier: 'f99' is no key"),
        ("[keys]\nverifier = 'v'", "keys.verifier: 'v' is typed"),
        ("[keys]\nverifier = 'f4'", "keys.verifier: 'f4' is the key of model"),
        ("[keys]\nquit = ''", "keys.quit: there must be one"),
        ("preset = 'word'", "preset: there are vi, emacs"),
        ("keys = 3", "keys: write its lines below a line [keys]"),
        ("colour = 3", "colour: unknown"),
        ("[keys", "the keys are not used"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, said: str) -> None:
    keymap = read_keymap(written(tmp_path, text), bound())
    assert len(keymap.problems) == 1
    assert said in keymap.problems[0]
    assert not keymap.keys


def test_two_may_change_places(tmp_path: Path) -> None:
    keymap = read_keymap(written(tmp_path, "[keys]\nverifier = 'f4'\nmodel = 'F3'"), bound())
    assert keymap == ({"verifier": "f4", "model": "f3"}, ())


def test_no_file_is_no_problem(tmp_path: Path) -> None:
    assert read_keymap(tmp_path / "keys.toml", bound()) == ({}, ())
    assert read_keymap(tmp_path, bound()).problems


@pytest.mark.parametrize(
    ("written_so", "key"),
    [("Ctrl+O", "ctrl+o"), ("?", "question_mark"), ("Esc", "escape"), ("Y", "Y"), ("alt+<", "alt+less_than_sign"),
     ("+", "plus"), ("Control+PgUp", "ctrl+pageup")],
)  # fmt: skip
def test_keys_are_written_as_people_do(written_so: str, key: str) -> None:
    assert named(written_so) == key


async def test_a_chosen_key_does_it_and_is_shown_everywhere_and_the_former_does_nothing(make_app: MakeApp) -> None:
    actions.use({"help": "f10", "zoom": "f11", "copy_turn": ""})
    app = make_app(ScriptedDriver([*machine(), *first_exchange(), *answered()]))
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        assert "F10 help" in plain(app, KeyBar)
        await pilot.press("f1")
        assert len(app.screen_stack) == 1
        await pilot.press("f10")
        assert len(app.screen_stack) == 2
        await pilot.press("escape")
        app.query_one(ConversationPane).focus()
        await pilot.press("f11")
        assert app._main.layout_of_panes.zoomed == "conversation"
        await pilot.press("Y")
        assert app.query_one(PromptLine).value == "Y"
        commands = {command.title: command.key for command in entries(app)}
        assert commands["Help"] == "F10"
        assert commands["Copy turn"] == ""
    assert ("F10", "every key and every number") in help_screen()._sections[0][1]
    assert key_of("copy_turn") == key_of("command_palette")


@pytest.mark.parametrize("preset", PRESETS)
async def test_a_preset_moves_as_its_people_expect(make_app: MakeApp, preset: str) -> None:
    actions.use(PRESETS[preset])
    older, left = {"vi": ("k", "left"), "emacs": ("ctrl+p", "ctrl+b")}[preset]
    app = make_app(ScriptedDriver([*machine(), *(event for turn in range(1, 40, 2) for event in asked(turn))]))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        pane, line = app.query_one(ConversationPane), app.query_one(PromptLine)
        pane.focus()
        await pilot.press(older, older)
        assert pane.back == 2
        line.focus()
        await pilot.press("a", "b", left, "c")
        assert line.value == "acb"
        await pilot.press("alt+x" if preset == "emacs" else "ctrl+p")
        assert len(app.screen_stack) == 2


def test_the_page_of_keys_is_a_file_of_keys(capsys: pytest.CaptureFixture[str]) -> None:
    from predtui.commands.help import _keys

    page = tomllib.loads(_keys())["keys"]
    assert page == {one.name: one.keys for one in bound()}
    assert {action.name for action in ACTIONS} <= page.keys()
    assert Bound("older", "up", "pane") in bound()
