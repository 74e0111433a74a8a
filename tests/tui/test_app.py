"""What the person does becomes requests, and what the driver tells becomes what is drawn. No looks."""

from __future__ import annotations

import itertools
import os
import random
import signal
import threading
import time
import tomllib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual.app import App
from textual.events import AppBlur, Key, Paste, Resize
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from predtui.clock import VirtualClock
from predtui.config import load_or_default, user_file
from predtui.errors import PredtuiError
from predtui.registry import VERIFIERS
from predtui.settings import LlmSettings
from predtui.state import events as ev
from predtui.tui.app import PredtuiApp
from predtui.tui.keys import RELEASE
from predtui.tui.messages import NoticeRaised, ReleasesTold
from predtui.tui.palette import entries
from predtui.tui.screens.main import MainScreen
from predtui.tui.screens.models import ModelScreen
from predtui.tui.screens.reading import ReadingScreen
from predtui.tui.themes import ThemeRegistry
from predtui.tui.widgets.bars import NoticeBar, TopBar
from predtui.tui.widgets.candidate import CandidatePane
from predtui.tui.widgets.conversation import ConversationPane
from predtui.tui.widgets.keybar import KeyBar
from predtui.tui.widgets.pane import Pane
from predtui.tui.widgets.prompt import PromptLine
from predtui.tui.widgets.talk import TalkButton
from predtui.tui.widgets.timeline import TimelinePane
from predtui.tui.widgets.verifier import VerifierPane
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, by_path, first_exchange, machine, speculating


def requests(driver: ScriptedDriver) -> list[tuple[object, ...]]:
    return [asked for asked in driver.asked if asked != ("start",)]


def typed(driver: ScriptedDriver) -> list[tuple[str, int | None]]:
    return [(line.text, line.cursor) for line in driver.lines]


def plain_line(pilot: Pilot[None]) -> str:
    return pilot.app.screen_stack[0].query_one(PromptLine).value


async def settle(pilot: Pilot[None]) -> None:
    """Lets the driver's thread start and the next frame be drawn."""
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    while pilot.app.frames.due:  # type: ignore[attr-defined]
        await pilot.pause(0.02)
    await pilot.pause()


def offered(app: App[None]) -> str:
    """The rows that F4 shows, with the names of their groups."""
    return "\n".join(str(row.prompt) for row in app.screen.query_one(OptionList).options)


async def until(pilot: Pilot[None], ready: Callable[[], bool]) -> None:
    """Waits for ``ready``, some seconds at most."""
    for _ in range(500):
        if ready():
            return
        await pilot.pause(0.01)
    raise AssertionError("it never came")


def plain(app: object, kind: type) -> str:
    widget = app.screen_stack[0].query_one(kind)  # type: ignore[attr-defined]
    return "\n".join(widget.render_line(y).text for y in range(widget.content_size.height)).rstrip()


class TestTyping:
    async def test_every_key_is_told_and_enter_ends_the_line(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver()
        async with make_app(driver).run_test() as pilot:
            await settle(pilot)
            await pilot.press(*"a b", "left", "home", "end", "backspace", "c", "enter")
            await pilot.pause()
        assert typed(driver) == [
            ("a", 1), ("a ", 2), ("a b", 3), ("a b", 2), ("a b", 0), ("a b", 3), ("a ", 2), ("a c", 3), ("a c", None),
        ]  # fmt: skip

    async def test_keys_sent_at_once_make_the_lines_they_spell(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver()
        async with make_app(driver).run_test() as pilot:
            await settle(pilot)
            for key in ("one", "enter", "two", "enter", "thr"):
                for name in [key] if key == "enter" else key:
                    pilot.app.post_message(Key(name, None if name == "enter" else name))
            await until(pilot, lambda: len(driver.lines) >= 11)
            assert pilot.app.query_one(PromptLine).value == "thr"
        assert [line.text for line in driver.lines if line.final] == ["one", "two"]
        assert driver.lines[-1] == replace(driver.lines[-1], text="thr", cursor=3)

    async def test_an_empty_line_is_not_ended(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver()
        async with make_app(driver).run_test() as pilot:
            await settle(pilot)
            await pilot.press("enter", "space", "enter")
            await pilot.pause()
        assert not [line for line in driver.lines if line.final]

    async def test_pasted_text_is_one_edit(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver()
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            app.query_one(PromptLine).post_message(Paste("what is the capital of france"))
            await pilot.pause()
        assert typed(driver) == [("what is the capital of france", 29)]

    async def test_words_that_were_heard_in_part_are_there_to_be_finished(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        async with make_app(driver).run_test(size=(100, 30)) as pilot:
            await settle(pilot)
            heard = ev.Refused(turn=2, revision=9, heard="what is the\x1b[2J capital")
            driver.emit(*speculating(4), ev.Interrupt(turn=2, revision=9), heard)
            await settle(pilot)
            assert plain_line(pilot) == "what is the [2J capital "
            assert not driver.lines, "nothing is asked before a key"
            await pilot.press(*"of")
            driver.emit(ev.Notice(text="another event of the same turn"))
            await settle(pilot)
            assert [line.text for line in driver.lines][-1] == plain_line(pilot) == "what is the [2J capital of"

    async def test_what_is_being_typed_is_left_alone(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        async with make_app(driver).run_test(size=(100, 30)) as pilot:
            await settle(pilot)
            await pilot.press(*"mine")
            driver.emit(*speculating(4), ev.Refused(turn=2, revision=9, heard="what is the"))
            await settle(pilot)
            assert plain_line(pilot) == "mine"

    async def test_a_recorded_refusal_puts_no_words_into_the_line(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        async with make_app(driver, read_only=True).run_test(size=(100, 30)) as pilot:
            await settle(pilot)
            driver.emit(*speculating(4), ev.Refused(turn=2, revision=9, heard="what is the"))
            await settle(pilot)
            assert plain_line(pilot) == ""

    async def test_a_key_is_told_with_its_time(self, make_app: MakeApp, clock: VirtualClock) -> None:
        driver = ScriptedDriver()
        async with make_app(driver).run_test() as pilot:
            await settle(pilot)
            for key in "ab":
                await pilot.press(key)
                clock.advance(0.25)
            await pilot.pause()
        assert [line.time for line in driver.lines] == [100.0, 100.25]

    async def test_words_typed_before_the_driver_runs_reach_it_in_order(self, make_app: MakeApp) -> None:
        gate = threading.Event()

        class Slow(ScriptedDriver):
            def start(self) -> None:
                gate.wait(10)
                super().start()

        driver = Slow()
        async with make_app(driver).run_test() as pilot:
            await pilot.press(*"one two ")
            await pilot.pause()
            assert driver.asked == []
            gate.set()
            await settle(pilot)
        assert driver.asked[0] == ("start",)
        assert [text for text, _ in typed(driver)] == ["one two "[:count] for count in range(1, 9)]

    async def test_a_letter_typed_on_a_pane_is_not_lost(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test() as pilot:
            app.query_one(VerifierPane).focus()
            await pilot.pause()
            await pilot.press("h", "i")
            assert app.query_one(PromptLine).value == "hi"


class TestTalking:
    async def test_a_tap_toggles(self, make_app: MakeApp, clock: VirtualClock) -> None:
        driver = ScriptedDriver()
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press("f2")
            driver.emit(ev.TurnStarted(turn=1, source="voice", time=1.0))
            await settle(pilot)
            clock.advance(5)
            await pilot.pause(0.1)
            assert app.query_one(TalkButton).talking
            await pilot.press("f2")
            await pilot.pause()
        assert requests(driver) == [("talk", True), ("talk", False)]

    async def test_a_held_key_talks_until_its_repeats_stop(self, make_app: MakeApp, clock: VirtualClock) -> None:
        driver = ScriptedDriver()
        async with make_app(driver).run_test() as pilot:
            await settle(pilot)
            await pilot.press("f2")
            clock.advance(0.4)
            for _ in range(5):
                await pilot.press("f2")
                clock.advance(0.03)
            assert requests(driver) == [("talk", True)]
            clock.advance(0.6)
            await pilot.pause(0.12)
        assert requests(driver) == [("talk", True), ("talk", False)]

    async def test_where_the_terminal_tells_of_it_a_release_ends_talking(
        self, make_app: MakeApp, clock: VirtualClock
    ) -> None:
        driver = ScriptedDriver()
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            assert "F2 press to talk" in plain(app, KeyBar)
            app.post_message(ReleasesTold())
            await settle(pilot)
            assert "F2 hold to talk" in plain(app, KeyBar)
            driver.emit(ev.TurnStarted(turn=1, source="voice", time=1.0))
            await settle(pilot)
            for held, asked in ((5.0, 2), (0.01, 3)):  # held, and tapped
                await pilot.press("f2")
                clock.advance(held)
                await pilot.press(RELEASE)
                await pilot.pause()
                assert len(requests(driver)) == asked
            assert app.query_one(TalkButton).talking
            await pilot.press("f2", RELEASE)
        assert requests(driver) == [("talk", on) for on in (True, False, True, False)]

    async def test_a_screen_that_was_busy_takes_no_hold_for_a_tap(self, make_app: MakeApp) -> None:
        """Both ends of it are looked at at once, long after."""
        driver = ScriptedDriver()
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            app.post_message(ReleasesTold())
            await pilot.pause()
            for name, ago in (("f2", 1.6), (RELEASE, 0.8)):
                key = Key(name, None)
                key.time -= ago
                app.post_message(key)
            await pilot.pause()
        assert requests(driver) == [("talk", True), ("talk", False)]

    async def test_what_is_held_while_its_window_is_left_is_let_go(
        self, make_app: MakeApp, clock: VirtualClock
    ) -> None:
        driver = ScriptedDriver()
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            app.post_message(ReleasesTold())
            await pilot.press("f2")
            clock.advance(0.5)
            app.post_message(AppBlur())
            await pilot.pause()
        assert requests(driver) == [("talk", True), ("talk", False)]

    async def test_a_key_that_repeats_is_one_to_hold(self, make_app: MakeApp, clock: VirtualClock) -> None:
        app = make_app()
        async with app.run_test(size=(120, 30)) as pilot:
            await settle(pilot)
            assert "F2 press to talk, again to send" in plain(app, KeyBar)
            for _ in range(4):
                await pilot.press("f2")
                clock.advance(0.1)
            assert "F2 hold or tap to talk" in plain(app, KeyBar)

    async def test_the_mouse_holds_the_button(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver()
        async with make_app(driver).run_test() as pilot:
            await settle(pilot)
            await pilot.mouse_down("#talk")
            await pilot.pause()
            assert requests(driver) == [("talk", True)]
            await pilot.mouse_up(offset=(2, 3))
            await pilot.pause()
        assert requests(driver) == [("talk", True), ("talk", False)]

    async def test_the_button_lets_go_where_nobody_listens(self, make_app: MakeApp, clock: VirtualClock) -> None:
        app = make_app()
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press("f2")
            assert app.query_one(TalkButton).talking
            clock.advance(1.5)
            await pilot.pause(0.12)
            assert not app.query_one(TalkButton).talking


class TestChoosing:
    async def test_f3_goes_through_the_verifiers(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver()
        async with make_app(driver).run_test() as pilot:
            await settle(pilot)
            await pilot.press(*["f3"] * len(VERIFIERS))
        names = [entry.choice for entry in VERIFIERS.values()]
        assert requests(driver) == [("configure", name) for name in (*names[1:], names[0])]

    async def test_the_theme_is_kept_with_the_other_settings(self, make_app: MakeApp) -> None:
        user_file().parent.mkdir(parents=True)
        user_file().write_text('# mine\n[llm]\nmodel = "pocket"\n')
        app = make_app()
        async with app.run_test() as pilot:
            before = app.theme
            await pilot.press("ctrl+t")
            assert app.theme != before
        kept = tomllib.loads(user_file().read_text())
        assert kept == {"llm": {"model": "pocket"}, "ui": {"theme": app.theme}}
        assert user_file().read_text().startswith("# mine")

    async def test_f4_offers_the_folder_and_takes_a_path(self, make_app: MakeApp, tmp_path: Path) -> None:
        (tmp_path / "big.gguf").write_bytes(b"GGUF")
        driver = ScriptedDriver([LOADED])
        app = make_app(driver, model_options=by_path)
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press("f4")
            assert isinstance(app.screen, ModelScreen)
            await until(pilot, lambda: "big.gguf" in offered(app))
            rows = [row.split()[0] for row in offered(app).splitlines()]
            assert rows[:7] == ["predtui", "●", "pocket-draft", "pocket-cllm", "smollm2", "llm.folder", "big.gguf"]
            await pilot.press(*"big.gguf", "enter")
            await pilot.pause()
            await pilot.press("f4", "tab", *"/none", "enter")
            assert "no such file" in str(app.screen.query_one("#wrong").render())
            app.screen.query_one(Input).value = "~nosuchuser/x"
            await pilot.press("enter")
            assert "no such user" in str(app.screen.query_one("#wrong").render())
            await pilot.press("escape")
            assert isinstance(app.screen, MainScreen)
        chosen = str(tmp_path / "big.gguf")
        assert requests(driver) == [("replace", "llm", LlmSettings(model=chosen, folder=str(tmp_path)))]

    async def test_the_header_names_the_model_that_answers(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver([*machine(), LOADED])
        app = make_app(driver, model_options=by_path)
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            await pilot.press("f4", "tab", *"/etc/passwd", "enter")
            wrong = ev.StageStatus(stage="llm", state="failed", message="/etc/passwd is no GGUF file.", time=2.0)
            driver.emit(wrong, ev.Notice(text="llm goes on as before. /etc/passwd is no GGUF file."))
            await settle(pilot)
            assert "llm failed (F6 tries again): /etc/passwd is no GGUF file." in plain(app, NoticeBar)
            assert "passwd" not in plain(app, TopBar)
            driver.emit(replace(LOADED, time=3.0))
            await settle(pilot)
            assert "pocket  5.9M" in plain(app, TopBar)
            assert "failed" not in plain(app, NoticeBar)
            assert "llm goes on as before." in plain(app, NoticeBar)
            driver.emit(replace(LOADED, message="big · 7.0B · llama.cpp · cpu", time=4.0))
            await settle(pilot)
            assert "big  7.0B" in plain(app, TopBar)
            driver.emit(ev.StageStatus(stage="llm", state="starting", time=5.0))
            await settle(pilot)
            assert "predtui  big" in plain(app, TopBar)

    async def test_help_names_every_pane_and_a_pane_explains_itself(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test(size=(120, 36)) as pilot:
            await pilot.press("f1")
            assert isinstance(app.screen, ReadingScreen)
            titles = {str(title.render()) for title in app.screen.query(".section")}
            assert {"KEYS", "TIMELINE", "VERIFIER", "STAGES"} <= titles
            await pilot.press("f1")
            app.query_one(VerifierPane).focus()
            await pilot.pause()
            await pilot.press("question_mark")
            assert isinstance(app.screen, ReadingScreen)
            assert "NFE" in " ".join(str(line.render()) for line in app.screen.query(".line"))
            await pilot.press("escape")
            assert isinstance(app.screen, MainScreen)

    async def test_a_click_on_a_key_does_what_the_key_does(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test(size=(120, 36)) as pilot:
            names = plain(app, KeyBar)
            await pilot.click("#keys", offset=(names.index("help") + 2, 0))
            await pilot.pause()
            assert isinstance(app.screen, ReadingScreen)

    async def test_the_palette_holds_every_action(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test():
            titles = {command.title for command in entries(app)}
        assert {"Talk", "Silence", "Model", "Help", "Quit", "Verifier: reflection", "Theme: daylight"} <= titles

    async def test_a_command_of_the_palette_does_what_its_key_does(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test() as pilot:
            (command,) = (one for one in entries(app) if one.title == "Help")
            app.call_later(command.act)
            await pilot.pause()
            assert isinstance(app.screen, ReadingScreen)


LOADED = ev.StageStatus(stage="llm", state="ready", message="pocket · 5.9M · llama.cpp · cpu", time=1.0)
DEAF = ev.StageStatus(stage="mic", state="ready", message="no microphone found. Plug one in.", lacks="microphone")


class TestDevices:
    async def test_a_stage_without_its_device_wears_another_mark(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver([*machine(), DEAF])
        app = make_app(driver)
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            assert "mic ⊘" in plain(app, TopBar)
            driver.emit(ev.StageStatus(stage="mic", state="ready"))
            await settle(pilot)
            assert "mic" not in plain(app, TopBar)

    async def test_talking_without_a_microphone_never_looks_like_talking(
        self, make_app: MakeApp, clock: VirtualClock
    ) -> None:
        driver = ScriptedDriver([*machine(), DEAF])
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            button = app.query_one(TalkButton)
            for _ in range(3):  # a key that is held repeats
                await pilot.press("f2")
                assert not button.talking
            assert requests(driver) == [("talk", True)]
            clock.advance(5.0)
            await pilot.mouse_down("#talk")
            await pilot.mouse_up("#talk")
            assert not button.talking
            assert requests(driver) == [("talk", True), ("talk", True)]
            driver.emit(ev.StageStatus(stage="mic", state="ready"))
            await settle(pilot)
            clock.advance(5.0)
            await pilot.press("f2")
            assert button.talking

    async def test_the_key_is_answered_right_after_the_microphone_has_gone(
        self, make_app: MakeApp, clock: VirtualClock
    ) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            button = app.query_one(TalkButton)
            await pilot.press("f2")
            assert button.talking
            clock.advance(1.0)
            await pilot.press("f2")
            driver.emit(DEAF)
            await settle(pilot)
            clock.advance(0.5)
            await pilot.press("f2")
            assert requests(driver) == [("talk", True), ("talk", False), ("talk", True)]

    async def test_both_devices_are_told_of_at_once(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            driver.emit(
                ev.Notice(text="no live sound. apt install it. Typing works.", severity="warning"),
                ev.Notice(text="no live sound. apt install it. Replies are shown.", severity="warning"),
            )
            await settle(pilot)
            said = plain(app, NoticeBar)
        assert said == "▲ no live sound. apt install it. Replies are shown. · Typing works."


def _note(drawn: list[str], pane: object, *_: object, **__: object) -> None:
    drawn.append(type(pane).__name__)


class TestDrawing:
    async def test_the_turn_is_drawn(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            driver.emit(*first_exchange(), *speculating(4))
            await settle(pilot)
            assert "✗ Spain is Madrid." in plain(app, CandidatePane)
            assert "◐ partial" in plain(app, VerifierPane)
            assert "● REC" in plain(app, TopBar)
            driver.emit(*answered())
            await settle(pilot)
            title = str(app.query_one(TimelinePane).border_title)
            assert "21 ms" in title
            assert "without: 96 ms" in title

    async def test_a_verifier_that_may_lose_wears_a_badge(self, make_app: MakeApp) -> None:
        lossy = ev.Verdict(turn=2, revision=9, outcome="partial", accepted=3, of=9, verifier="lenient", lossless=False)
        driver = ScriptedDriver([*speculating(), lossy])
        for size in ((80, 24), (120, 36)):
            app = make_app(driver)
            async with app.run_test(size=size):
                assert "lossy" in plain(app, VerifierPane)

    async def test_only_what_changed_is_drawn_again(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver([*machine(), *speculating(2)])
        app = make_app(driver)
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            drawn: list[str] = []
            for pane in app.query(Pane):
                pane.refresh = partial(_note, drawn, pane)  # type: ignore[method-assign]
            driver.emit(ev.Verdict(turn=2, revision=2, outcome="accept", accepted=1, of=1))
            await settle(pilot)
        assert set(drawn) == {"VerifierPane"}

    async def test_a_drawing_that_comes_late_is_not_lost(
        self, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            monkeypatch.setattr(app, "set_timer", lambda *late, **never: None)
            driver.emit(*speculating(2))
            await pilot.pause(0.3)
            assert not app.frames.due
            assert "1" in plain(app, VerifierPane)

    async def test_a_size_that_is_told_to_a_busy_app_is_taken(
        self, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        app = make_app(ScriptedDriver(machine()))
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            for size in (Size(200, 50), Size(40, 12)):
                now = time.monotonic()
                late = iter([now, now + 1.0])  # between two looks, longer than Textual waits
                clock = SimpleNamespace(get_time=lambda late=late: next(late, time.monotonic()))
                monkeypatch.setattr("textual.timer._time", clock)
                await app._on_resize(Resize(size, size))
                await pilot.pause(0.1)
                assert app.query_one(TopBar).outer_size.width == size.width

    async def test_a_burst_is_drawn_a_few_times_only(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            frames: list[int] = []
            show = app.query_one(CandidatePane).show
            app.query_one(CandidatePane).show = lambda turn: (frames.append(1), show(turn))[1]  # type: ignore[method-assign]
            told = [ev.Candidate(turn=0, revision=n, new=f"word {n}", tokens=n) for n in range(1, 2001)]
            thread = threading.Thread(target=driver.emit, args=told)
            thread.start()
            while thread.is_alive():
                await pilot.pause(0.02)
            await settle(pilot)
            assert "word 2000" in plain(app, CandidatePane)
        assert 1 <= len(frames) < 200


class TestFaults:
    async def test_a_failed_stage_is_one_line_and_escape_puts_it_away(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            driver.emit(ev.StageStatus(stage="llm", state="restarting", message="killed by SIGKILL"))
            await settle(pilot)
            assert plain(app, NoticeBar) == "▲ llm restarting: killed by SIGKILL"
            assert "llm ↻" in plain(app, TopBar)
            await pilot.press("escape")
            assert not app.query_one(NoticeBar).display
            driver.emit(ev.Usage(cpu=1.0, memory_mb=1.0))
            await settle(pilot)
            assert not app.query_one(NoticeBar).display

    async def test_what_has_failed_is_tried_again_by_a_key_that_its_line_names(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            driver.emit(ev.StageStatus(stage="tts", state="failed", message="No voice."))
            await settle(pilot)
            assert plain(app, NoticeBar) == "✗ tts failed (F6 tries again): No voice."
            await pilot.press("f6")
            app.requests.restart("asr")
            assert requests(driver) == [("restart", ""), ("restart", "asr")]

    async def test_what_is_to_be_tried_again_stands_beside_the_key_that_does_it(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            driver.emit(ev.StageStatus(stage="llm", state="failed", message="No room."))
            await settle(pilot)
            driver.emit(ev.Notice(text="No reply: the model is not available. Try it again.", severity="error"))
            await settle(pilot)
            shown = " ".join(plain(app, NoticeBar).split())
            assert (
                shown == "✗ llm failed (F6 tries again): No room. · No reply: the model is not available. Try it again."
            )

    async def test_a_line_that_was_put_away_stays_so_when_it_fails_again_alike(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test(size=(120, 36)) as pilot:
            for time, shown in ((1.0, True), (2.0, False)):
                driver.emit(ev.StageStatus(stage="tts", state="starting", time=time))
                driver.emit(ev.StageStatus(stage="tts", state="failed", message="No voice.", time=time))
                await settle(pilot)
                assert app.query_one(NoticeBar).display is shown
                await pilot.press("escape")
            driver.emit(ev.StageStatus(stage="tts", state="failed", message="No memory.", time=3.0))
            await settle(pilot)
            assert "No memory." in plain(app, NoticeBar)

    async def test_a_stage_that_does_not_respond_is_said_to(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver([*machine(), LOADED])
        app = make_app(driver)
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            driver.emit(
                ev.StageStatus(stage="llm", state="silent", message="It is restarted unless it goes on.", time=5.0)
            )
            await settle(pilot)
            assert plain(app, NoticeBar) == "▲ llm silent: It is restarted unless it goes on."
            assert "llm ◍" in plain(app, TopBar)
            assert "pocket" in plain(app, TopBar)

    async def test_a_driver_that_cannot_start_leaves_the_screen_up(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver()
        driver.fails = PredtuiError("no such model: x.gguf.", "Choose another with F4.")
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            assert "no such model: x.gguf. Choose another with F4." in plain(app, NoticeBar)
            await pilot.press("a")
            assert app.query_one(PromptLine).value == "a"

    async def test_a_request_that_fails_becomes_a_line(self, make_app: MakeApp) -> None:
        class Deaf(ScriptedDriver):
            def talk(self, on: bool) -> None:
                raise OSError("no input device")

        app = make_app(Deaf())
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press("f2")
            await pilot.pause()
            assert "no input device" in plain(app, NoticeBar)

    async def test_a_settings_file_that_is_not_used_is_named_with_what_to_do_on_a_narrow_screen(
        self, make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PREDTUI_CONFIG_DIR", str(tmp_path))
        (tmp_path / "settings.toml").write_text("[llm]\nmodel = 'x'\nnot even = nearly = right\n")
        problem = load_or_default()[1].replace(str(tmp_path), "/home/somebody/.config/predtui")
        driver = ScriptedDriver()
        app = make_app(driver, themes=ThemeRegistry((), (problem,)))
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            driver.emit(ev.Notice(text="No microphone: typing and sound files work all the same.", severity="warning"))
            await settle(pilot)
            shown = "".join(plain(app, NoticeBar).split())
            assert "settings.toml" in shown
            assert "moveitaway" in shown

    async def test_notices_of_themes_and_of_the_driver_are_shown(self, make_app: MakeApp) -> None:
        app = make_app(themes=ThemeRegistry((), ("theme skipped: a.toml:1: dark: missing",)))
        async with app.run_test() as pilot:
            await settle(pilot)
            assert "a.toml:1: dark" in plain(app, NoticeBar)

    async def test_a_lesser_notice_does_not_hide_a_graver_one_nor_one_warning_the_other(
        self, make_app: MakeApp
    ) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver, themes=ThemeRegistry((), ("theme skipped: a.toml:1: dark: missing",)))
        async with app.run_test(size=(120, 36)) as pilot:
            await settle(pilot)
            for severity, text in (("information", "no microphone"), ("warning", "no loudspeaker")):
                driver.emit(ev.Notice(text=text, severity=severity))  # type: ignore[arg-type]
                await settle(pilot)
            assert plain(app, NoticeBar) == "▲ no loudspeaker · theme skipped: a.toml:1: dark: missing"
            driver.emit(ev.Notice(text="all is lost", severity="error"))
            await settle(pilot)
            assert plain(app, NoticeBar) == "✗ all is lost"

    async def test_a_replay_takes_nothing(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver([*machine(), *answered()])
        app = make_app(driver, read_only=True)
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press("a", "space", "enter", "f2", "f3", "f4", "escape")
            await pilot.pause()
            assert "REPLAY" in plain(app, TopBar)
        assert driver.asked == [("start",)]

    @pytest.mark.parametrize("size", [(39, 24), (80, 11), (10, 3)])
    async def test_a_tiny_window_says_so_in_one_line(self, make_app: MakeApp, size: tuple[int, int]) -> None:
        app = make_app()
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            shown = [widget for widget in app.screen.children if widget.display]
            assert [widget.id for widget in shown] == ["too-small"]
            app.show_notice("a line")
            await pilot.pause()
            assert not app.query_one(NoticeBar).display
            await pilot.resize_terminal(80, 24)
            await pilot.pause()
            assert app.query_one(NoticeBar).display
            assert not app.query_one("#too-small").display
            assert app.query_one(PromptLine).region.bottom <= 24

    async def test_resizing_while_streaming_keeps_the_input_in_sight(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test() as pilot:
            for count, size in enumerate([(80, 24), (200, 50), (60, 16), (120, 36), (100, 30), (99, 29), (160, 40)]):
                driver.emit(*speculating(count % 6 + 1))
                await pilot.resize_terminal(*size)
                await pilot.pause()
                for selector in ("#top", "#prompt", "#keys", "ConversationPane", "CandidatePane"):
                    region = app.query_one(selector).region
                    assert region.height > 0, (selector, size)
                    assert region.right <= size[0], (selector, size)
                    assert region.bottom <= size[1], (selector, size)

    async def test_what_is_needed_most_has_room_at_every_size(self, make_app: MakeApp) -> None:
        parts = [ev.Work(stage=worker, start=1.0, end=1.1) for worker in ("encode", "write", "target", "draft")]
        long = ev.Notice(text="a line that needs three rows " * 20, severity="error")
        driver = ScriptedDriver([*machine(), *first_exchange(), *speculating(4), *parts])
        app = make_app(driver)
        async with app.run_test(size=(40, 12)) as pilot:
            await settle(pilot)
            driver.emit(long)
            await settle(pilot)
            for size in itertools.product((40, 59, 60, 99, 100, 160), (12, 15, 16, 19, 20, 23, 24, 29, 30, 39, 40)):
                await pilot.resize_terminal(*size)
                await pilot.pause()
                rows = {kind: app.query_one(kind).content_size.height for kind in (ConversationPane, CandidatePane)}
                assert rows[ConversationPane] >= 3, size
                assert rows[CandidatePane] >= 2 or (size[0] < 60 and size[1] < 16), size
                assert app.query_one(PromptLine).region.width >= 20, size
                shown = [pane for pane in app.query(Pane) if pane.region]
                assert all(pane.content_size.height for pane in shown), size
                assert all(app.screen.region.contains_region(pane.region) for pane in shown), size

    async def test_a_frame_that_is_due_while_it_closes_is_let_go(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver(machine())
        app = make_app(driver)
        async with app.run_test() as pilot:
            driver.emit(*speculating(1))
            await pilot.pause()
        assert not app.screen_stack
        app.on_notice_raised(NoticeRaised("too late", "warning"))
        app.frames.draw()
        assert not app.frames.due

    async def test_what_still_comes_while_the_screen_is_taken_down_does_no_harm(
        self, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        close = PredtuiApp._close_all

        async def slowly(app: PredtuiApp) -> None:
            await app._prune(*app.screen_stack[0].children)
            app.frames.draw()
            app.show_notice("too late")
            await close(app)

        monkeypatch.setattr(PredtuiApp, "_close_all", slowly)
        app = make_app()
        async with app.run_test() as pilot:
            await settle(pilot)
        assert not app.screen_stack

    async def test_hundreds_of_random_keys_leave_it_up(
        self, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        async def stay(_: PredtuiApp) -> None:
            """The palette may be open at that."""

        monkeypatch.setattr(PredtuiApp, "action_quit", stay)
        monkeypatch.chdir(tmp_path)  # or may save the conversation
        chance = random.Random(7)
        names = "space enter escape tab shift+tab up down left right home end pageup pagedown backspace delete"
        keys = [*"abc xyz?.,1", *names.split(), *["f1", "f2", "f3", "f4", "f5", "ctrl+t", "ctrl+p", "ctrl+a", "ctrl+k"]]
        driver = ScriptedDriver(machine())
        app = make_app(driver, model_options=by_path)
        async with app.run_test() as pilot:
            for round_ in range(20):
                for key in chance.choices(keys, k=20):
                    app.post_message(Key(key, " " if key == "space" else key if len(key) == 1 else None))
                await pilot.pause()
                await pilot.resize_terminal(chance.randint(5, 220), chance.randint(3, 60))
                driver.emit(*(speculating(round_ % 6 + 1) if round_ % 2 else answered()))
            await pilot.resize_terminal(120, 36)
            await pilot.press("escape", "escape", "escape")
            await settle(pilot)
            assert app.is_running
            assert app.return_code in (None, 0)
            assert app.query_one(TopBar).region.height == 1


class TestSuspending:
    async def test_the_whole_job_stops_and_nobody_listens_meanwhile(
        self, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stopped: list[tuple[int, int]] = []
        monkeypatch.setattr(os, "getpgrp", lambda: os.getsid(0) + 1)
        monkeypatch.setattr(os, "killpg", lambda *sent: stopped.append(sent))
        driver = ScriptedDriver([*machine(), ev.TurnStarted(turn=1, source="voice", time=1.0)])
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            monkeypatch.setattr(type(app._driver), "can_suspend", True)
            await pilot.press(*"half", "ctrl+z")
            await pilot.pause(0.3)
            assert stopped == [(0, signal.SIGTSTP)]
            assert requests(driver)[-1] == ("silence",)
            redrawn: list[bool] = []
            monkeypatch.setattr(app, "refresh", lambda **o: redrawn.append(o["layout"]))
            app.app_resume_signal.publish(app)
            await pilot.pause()
            assert redrawn == [True]
            assert app.query_one(PromptLine).value == "half"

    async def test_without_a_shell_to_come_back_from_it_goes_on(
        self, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stopped: list[tuple[int, int]] = []
        monkeypatch.setattr(os, "getpgrp", lambda: os.getsid(0))
        monkeypatch.setattr(os, "killpg", lambda *sent: stopped.append(sent))
        app = make_app()
        async with app.run_test() as pilot:
            await settle(pilot)
            await pilot.press("ctrl+z")
            await pilot.pause(0.3)
            assert not stopped
            assert "no shell" in plain(app, NoticeBar)


class TestReading:
    @pytest.mark.parametrize("size", [(40, 12), (60, 16), (80, 24), (120, 36), (200, 50)])
    async def test_a_page_has_no_lines_but_those_it_needs(self, make_app: MakeApp, size: tuple[int, int]) -> None:
        app = make_app()
        async with app.run_test(size=size) as pilot:
            for topic in ("conversation", "timeline"):
                app.pages.explain(topic)
                await pilot.pause()
                page = app.screen.query_one("#page")
                lines = list(app.screen.query(".line"))
                drawn = [str(line.render()).split("\n") for line in lines]
                assert [line.region.height for line in lines] == [len(texts) for texts in drawn]
                assert all(
                    len(text) <= line.size.width for line, texts in zip(lines, drawn, strict=True) for text in texts
                )
                assert page.show_vertical_scrollbar == (
                    page.virtual_size.height > page.scrollable_content_region.height
                )
                await pilot.press("escape")
                await pilot.pause()


class TestScrolling:
    async def test_what_is_in_view_stays_when_a_turn_arrives(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver([*machine(), *many_turns(1, 30)])
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            pane = app.query_one(ConversationPane)
            pane.focus()
            await pilot.press("pageup", "up")
            before = plain(app, ConversationPane)
            assert "11 newer lines" in str(pane.border_title)
            driver.emit(*many_turns(31, 33))
            await settle(pilot)
            assert plain(app, ConversationPane) == before
            assert "17 newer lines" in str(pane.border_title)
            await pilot.press("end")
            assert "question 33" in plain(app, ConversationPane)
            assert "newer" not in str(pane.border_title)

    async def test_verdicts_in_view_stay_too(self, make_app: MakeApp) -> None:
        driver = ScriptedDriver([*machine(), ev.TurnStarted(turn=1, time=1.0), *verdicts(1, 20)])
        app = make_app(driver)
        async with app.run_test() as pilot:
            await settle(pilot)
            pane = app.query_one(VerifierPane)
            pane.focus()
            await pilot.press("down", "down")
            before = plain(app, VerifierPane)
            driver.emit(*verdicts(21, 24))
            await settle(pilot)
            assert plain(app, VerifierPane) == before
            assert "6 newer lines" in str(pane.border_title)


def many_turns(first: int, last: int) -> list[ev.Event]:
    """Turns of a line each side."""
    events: list[ev.Event] = []
    for number in range(first, last + 1):
        stamp: dict[str, Any] = {"turn": number, "revision": 1, "time": float(number)}
        asked, told = f"question {number}", f"Answer {number}."
        events += [
            ev.TurnStarted(turn=number, time=float(number)),
            ev.Transcript(**stamp, stable=asked, unfinished=False, final=True),
            ev.ReplyCommitted(**stamp, index=0, text=told),
            ev.ReplyFinished(**stamp, prompt=asked, text=told),
        ]
    return events


def verdicts(first: int, last: int) -> list[ev.Event]:
    return [ev.Verdict(turn=1, revision=n, outcome="accept", accepted=1, of=1) for n in range(first, last + 1)]


class TestKeysOffered:
    async def test_only_those_that_do_something_where_one_is(self, make_app: MakeApp) -> None:
        app = make_app()
        async with app.run_test(size=(120, 36)) as pilot:
            await pilot.pause()
            assert "?" not in plain(app, KeyBar)
            app.query_one(VerifierPane).focus()
            await pilot.pause()
            assert "? explain" in plain(app, KeyBar)
            app.query_one(PromptLine).focus()
            await pilot.pause()
            assert "?" not in plain(app, KeyBar)

    async def test_a_replay_offers_none_that_it_refuses(self, make_app: MakeApp) -> None:
        app = make_app(read_only=True)
        async with app.run_test(size=(120, 36)) as pilot:
            await pilot.pause()
            shown = plain(app, KeyBar)
            titles = {command.title for command in entries(app)}
        assert not [key for key in ("F2", "F3", "F4", "Esc") if key in shown]
        assert "^T theme" in shown
        assert not titles & {"Talk", "Silence", "Model", "Verifier: greedy"}
