"""Nothing typed or pasted is lost, wherever the focus is and however fast it comes."""

from __future__ import annotations

import importlib
import random

import pytest
from textual.events import Key, Paste
from textual.pilot import Pilot

from predtui.tui.action import Action, spelled
from predtui.tui.actions import ACTIONS, bindings
from predtui.tui.app import PredtuiApp
from predtui.tui.screens.models import ModelScreen
from predtui.tui.widgets.prompt import PromptLine
from predtui.tui.widgets.talk import TalkButton
from predtui.tui.widgets.verifier import VerifierPane
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, by_path, machine
from tests.tui.test_app import requests, settle

QUESTION = "how many legs has a spider"


def burst(app: PredtuiApp, *keys: str) -> None:
    """All keys at once, as a script or a fast terminal sends them."""
    for key in keys:
        app.post_message(Key("space" if key == " " else key, key if len(key) == 1 else None))


async def quiet(pilot: Pilot[None]) -> None:
    """Until every key that was sent has been dealt with."""
    for _ in range(4):
        await pilot.pause()


def line(app: PredtuiApp) -> str:
    return app.screen_stack[0].query_one(PromptLine).value


class TestBursts:
    async def test_typed_while_a_pane_has_the_focus(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test() as pilot:
            app.query_one(VerifierPane).focus()
            await pilot.pause()
            burst(app, *QUESTION)
            await quiet(pilot)
            assert line(app) == QUESTION

    async def test_typed_while_nothing_has_the_focus(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test() as pilot:
            app.screen.set_focus(None)
            await pilot.pause()
            burst(app, *"helo", "backspace", *"lo")
            await quiet(pilot)
            assert line(app) == "hello"

    async def test_a_key_that_edits_is_not_overtaken(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test() as pilot:
            burst(app, *"whst", "left", "backspace", "a", "end", *" is", "home", *"so ", "end", "backspace", "n")
            await quiet(pilot)
            assert line(app) == "so what in"

    async def test_a_question_mark_within_a_burst_is_text_and_alone_asks_the_pane(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test() as pilot:
            app.query_one(VerifierPane).focus()
            await pilot.pause()
            burst(app, *"why?")
            await quiet(pilot)
            assert line(app) == "why?"
            assert len(app.screen_stack) == 1
            app.query_one(VerifierPane).focus()
            await pilot.pause()
            app.post_message(Key("question_mark", "?"))
            await quiet(pilot)
            assert len(app.screen_stack) == 2

    @pytest.mark.parametrize("seed", range(4))
    async def test_random_focus_sizes_and_pastes_lose_nothing(self, make_app: MakeApp, seed: int) -> None:
        chance = random.Random(seed)
        app = make_app(ScriptedDriver(machine()))
        async with app.run_test() as pilot:
            for _ in range(12):
                app.query_one(PromptLine).value = ""
                sent = ""
                for _ in range(chance.randint(1, 12)):
                    match chance.choice(("keys", "keys", "paste", "tab", "nowhere", "resize", "wait")):
                        case "keys":
                            word = "".join(chance.choices("abc de", k=chance.randint(1, 9)))
                            burst(app, *word)
                            sent += word
                        case "paste":
                            app.post_message(Paste("pasted "))
                            sent += "pasted "
                        case "tab":
                            burst(app, chance.choice(("tab", "shift+tab")))
                        case "nowhere":
                            app.screen.set_focus(None)
                        case "resize":
                            await pilot.resize_terminal(chance.randint(5, 130), chance.randint(3, 40))
                        case "wait":
                            await pilot.pause()
                await quiet(pilot)
                assert line(app) == sent


class TestPastes:
    async def test_a_paste_on_a_pane_goes_to_the_line(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test() as pilot:
            app.query_one(VerifierPane).focus()
            await pilot.pause()
            app.post_message(Paste("what is it"))
            await quiet(pilot)
            assert line(app) == "what is it"

    async def test_several_lines_arrive_as_they_are(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver()
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            burst(app, *"so ")
            app.post_message(Paste("what is\r\n\r\n  the capital\n\tof\x1b[31m france\n"))
            await quiet(pilot)
            assert line(app) == "so what is\n\n  the capital\n of [31m france"
            burst(app, "enter", "x")
            await quiet(pilot)
            assert [typed.text for typed in driver.lines if typed.final] == [
                "so what is\n\n  the capital\n of [31m france"
            ]
            assert line(app) == "x"

    async def test_one_line_is_taken_as_it_is(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test() as pilot:
            app.post_message(Paste("what\tis \n"))
            await quiet(pilot)
            assert line(app) == "what is "

    async def test_a_paste_takes_the_place_of_what_is_selected(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test() as pilot:
            burst(app, *"one two")
            burst(app, "ctrl+shift+left")
            app.post_message(Paste("three"))
            await quiet(pilot)
            assert line(app) == "one three"


class TestTalking:
    async def test_a_line_half_typed_stays(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver()
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press(*"what is th")
            await pilot.press("f2")
            await pilot.pause()
            assert ("talk", True) in requests(driver)
            await pilot.mouse_down("#talk")
            await pilot.mouse_up("#talk")
            assert line(app) == "what is th"

    async def test_the_key_does_nothing_under_what_is_open(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver()
        app = make_app(driver, model_options=by_path)
        async with app.run_test() as pilot:
            await settle(pilot)
            for opening in ("f1", "f4", "ctrl+p"):
                await pilot.press(opening)
                assert len(app.screen_stack) == 2
                await pilot.press("f2")
                await pilot.pause()
                await pilot.press("escape")
                await pilot.pause()
            assert not any(asked[0] == "talk" for asked in requests(driver))

    async def test_the_key_still_stops_under_what_was_opened_since(self, make_app: MakeApp, clock: object) -> None:
        driver = ScriptedDriver()
        app = make_app(driver, model_options=by_path)
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press("f2", "f4")
            assert isinstance(app.screen, ModelScreen)
            clock.advance(5.0)  # type: ignore[attr-defined]
            app.screen_stack[0].query_one(TalkButton).follow(True)
            await pilot.press("f2")
            await pilot.pause()
        assert requests(driver) == [("talk", True), ("talk", False)]


class TestActions:
    """The one table of what a person can do."""

    def test_no_key_means_two_things(self) -> None:
        for on_pane in (False, True):
            keys = [binding.key for binding in bindings(on_pane)]
            assert len(keys) == len(set(keys))
        assert not {key.key for key in bindings(True)} & {key.key for key in bindings(False)}

    @pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
    async def test_each_does_something(self, make_app: MakeApp, action: Action) -> None:
        app = make_app()
        module, _, function = action.run.partition(":")
        assert callable(
            getattr(importlib.import_module(f"predtui.tui.{module}"), function)
            if action.run
            else getattr(app, f"action_{action.name}")
        )

    def test_keys_are_spelled_as_they_are_written(self) -> None:
        assert [spelled(key) for key in ("f2", "ctrl+t", "shift+tab", "escape", "y", "Y", "question_mark")] == [
            "F2", "Ctrl+T", "Shift+Tab", "Esc", "y", "Y", "?",
        ]  # fmt: skip
        assert spelled("ctrl+p", short=True) == "^P"
