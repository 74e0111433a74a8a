"""F9: every setting is found, explained and can be changed; a wrong value is told where it was typed."""

from __future__ import annotations

import os
import tomllib
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from predtui.config import user_file
from predtui.errors import PredtuiError
from predtui.registry import VERIFIERS
from predtui.settings import LlmSettings, Settings, TtsSettings, options, with_values
from predtui.state import events as ev
from predtui.tui import offers
from predtui.tui.app import PredtuiApp
from predtui.tui.dials import shown
from predtui.tui.screens.main import MainScreen
from predtui.tui.screens.models import ModelScreen
from predtui.tui.screens.settings import SettingsScreen, in_order
from predtui.tui.screens.value import ValueScreen
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, by_path, machine
from tests.tui.test_app import requests, settle, until

SIZES = [(40, 12), (80, 24), (120, 36), (200, 50)]
DEVICES: dict[str, list[str]] = {"input": ["USB microphone", "built-in"], "output": ["HDMI"]}


@pytest.fixture(autouse=True)
def _devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offers, "listing", lambda: DEVICES)


def text(app: PredtuiApp, of: str) -> str:
    return str(app.screen.query_one(of, Static).render())


def rows(app: PredtuiApp) -> list[str]:
    return [str(option.prompt) for option in app.screen.query_one(OptionList).options]


async def search(pilot: Pilot[None], words: str) -> None:
    pilot.app.screen.query_one(Input).value = words
    await pilot.pause()


async def open_setting(pilot: Pilot[None], key: str) -> None:
    await settle(pilot)
    await pilot.press("f9")
    await search(pilot, key)
    await pilot.press("enter")
    await pilot.pause()


def kept() -> dict[str, Any]:
    return tomllib.loads(user_file().read_text()) if user_file().exists() else {}


def test_the_list_has_every_setting_once() -> None:
    keys = [item.key for _, item in in_order()]
    assert sorted(keys) == sorted(options())


async def test_every_setting_is_found_by_its_name_and_explained(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver(machine()))
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("f9")
        screen = app.screen
        assert isinstance(screen, SettingsScreen)
        listed, seen = screen.query_one(OptionList), []
        for at, item in enumerate(list(screen._rows)):
            if item is None:
                continue
            listed.highlighted = at
            screen._tell()
            seen.append(item.key)
            assert screen._passes(item, [item.key])
            assert text(app, "#meaning") == item.meaning
            assert text(app, "#cost").startswith(("restarts", "takes effect"))
        assert sorted(seen) == sorted(options())


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_setting_is_changed_in_a_window_of_any_size(make_app: MakeApp, size: tuple[int, int]) -> None:
    driver = ScriptedDriver(machine())
    app = make_app(driver)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("f9", "pagedown")
        assert "tts.rate" in str(app.screen.query_one(OptionList).highlighted_option.prompt)  # type: ignore[union-attr]
        await pilot.press("enter", *"90", "enter")
        assert requests(driver) == [("replace", "tts", TtsSettings(rate=90))]


@pytest.mark.parametrize("key", ["llm.system", "asr.beam", "tts.top_p", "llm.gpu_layers", "asr.model", "llm.draft"])
async def test_settings_of_every_kind_open(make_app: MakeApp, key: str) -> None:
    app = make_app(ScriptedDriver(machine()))
    async with app.run_test() as pilot:
        await open_setting(pilot, key)
        assert isinstance(app.screen, ValueScreen)
        assert app.screen._item.key == key


async def test_a_word_of_what_it_means_finds_it_and_so_does_its_value(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("f9", *"words per minute")
        assert [row.split()[0] for row in rows(app)] == ["changed", "tts.rate"]
        await search(pilot, "en-us zonos")
        assert any("tts.language" in row for row in rows(app))
        await search(pilot, "nothing is called so")
        assert (rows(app), text(app, "#meaning")) == ([], "No setting is called so.")
        await pilot.press("enter", "down", "up", "pageup", "escape")
        assert isinstance(app.screen, MainScreen)


async def test_a_switch_is_switched_and_a_turn_goes_on(make_app: MakeApp) -> None:
    driver = ScriptedDriver(machine())
    app = make_app(driver)
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press(*"what is")
        await open_setting(pilot, "llm.baseline")
        assert kept() == {"llm": {"baseline": False}}
        assert any("llm.baseline" in row and "off" in row for row in rows(app))
        assert "kept in your settings" in text(app, "#wrong")
        await pilot.press("escape", *" the")
        assert driver.lines[-1].text == "what is the"
    assert [kind for kind, *_ in requests(driver)] == ["conduct"]


async def test_a_wrong_value_is_told_in_place_and_can_be_corrected(make_app: MakeApp) -> None:
    driver = ScriptedDriver(machine())
    app = make_app(driver)
    async with app.run_test() as pilot:
        await open_setting(pilot, "tts.rate")
        await pilot.press(*"9999", "enter")
        assert isinstance(app.screen, ValueScreen)
        assert "tts.rate = 9999 should be 80 to 450" in text(app, "#wrong")
        await pilot.press("backspace")
        assert text(app, "#wrong") == ""
        app.screen.query_one(Input).value = "200"
        await pilot.press("enter")
        assert isinstance(app.screen, SettingsScreen)
        assert "◌ tts.rate" in "\n".join(rows(app))
        assert kept() == {}
        for state in ("starting", "ready"):
            driver.emit(ev.StageStatus(stage="tts", state=state, time=2.0))  # type: ignore[arg-type]
        await until(pilot, lambda: kept() == {"tts": {"rate": 200}})
        assert "● tts.rate" in "\n".join(rows(app))
        assert "file" in "\n".join(rows(app))


async def test_ideas_stand_with_their_line_and_those_that_may_change_a_reply_are_marked(make_app: MakeApp) -> None:
    driver = ScriptedDriver(machine())
    app = make_app(driver)
    async with app.run_test(size=(120, 36)) as pilot:
        await open_setting(pilot, "llm.verifier")
        await until(pilot, lambda: len(rows(app)) == len(VERIFIERS))
        for row, entry in zip(rows(app), VERIFIERS.values(), strict=True):
            assert entry.choice in row
            assert entry.help in row
            assert ("lossy" in row) == entry.alters
        await pilot.press(*"top5", "enter")
        assert any("top5" in row and "lossy" in row for row in rows(app))
    assert requests(driver) == [("configure", "top5")]
    assert kept() == {"llm": {"verifier": "top5"}}


async def test_the_device_is_chosen_out_of_those_there_are(make_app: MakeApp) -> None:
    driver = ScriptedDriver(machine())
    app = make_app(driver)
    async with app.run_test() as pilot:
        await open_setting(pilot, "audio.input")
        await until(pilot, lambda: len(rows(app)) == 4)
        assert [row[2:].split("  ")[0].strip() for row in rows(app)] == ["(empty)", "none", *DEVICES["input"]]
        await pilot.press(*"usb", "enter")
        assert requests(driver)[0][:2] == ("replace", "mic")
        lost = ev.StageStatus(stage="mic", state="ready", message="no microphone.", lacks="microphone", time=3.0)
        driver.emit(ev.StageStatus(stage="mic", time=2.0), lost)
        await until(pilot, lambda: "not changed to" in text(app, "#wrong"))
    assert kept() == {}
    assert [options.input for _, _, options in requests(driver)] == ["USB microphone", ""]


async def test_without_a_sound_system_the_reason_stands_there_and_a_name_can_be_typed(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent() -> dict[str, list[str]]:
        raise PredtuiError("no live sound: the PortAudio library is missing.")

    monkeypatch.setattr(offers, "listing", absent)
    driver = ScriptedDriver(machine())
    app = make_app(driver)
    async with app.run_test() as pilot:
        await open_setting(pilot, "audio.output")
        await until(pilot, lambda: "PortAudio library is missing" in text(app, "#wrong"))
        await pilot.press(*"hdmi", "enter")
        assert requests(driver)[0][1:] == ("player", app.settings.audio)


async def test_themes_show_as_one_moves_over_them_and_escape_brings_the_former_back(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test() as pilot:
        await open_setting(pilot, "ui.theme")
        await until(pilot, lambda: len(rows(app)) > 2)
        await pilot.press("down")
        await until(pilot, lambda: app.theme != "midnight")
        await pilot.press("escape")
        await until(pilot, lambda: app.theme == "midnight")
        assert kept() == {}
        await pilot.press("enter")
        await until(pilot, lambda: len(rows(app)) > 2)
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.theme != "midnight")
        assert kept() == {"ui": {"theme": app.theme}}


async def test_the_model_is_chosen_on_its_own_screen(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver(machine()), model_options=by_path)
    async with app.run_test() as pilot:
        await open_setting(pilot, "llm.model")
        await until(pilot, lambda: isinstance(app.screen, ModelScreen))


async def test_a_click_opens_a_setting(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver(machine()))
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("f9")
        await search(pilot, "tts.pitch")
        await pilot.click(OptionList, offset=(8, 1))
        assert isinstance(app.screen, ValueScreen)


async def test_where_a_value_comes_from(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("[tts]\nrate = 200\n")
    monkeypatch.setitem(os.environ, "PREDTUI_LLM_SEED", "7")
    from predtui.config import load

    settings = load({"llm.temperature": 0.5})
    app = make_app(ScriptedDriver(machine()), settings=settings)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("f9")
        for key, source in (
            ("tts.rate", "file"),
            ("llm.seed", "environment"),
            ("llm.temperature", "command line"),
            ("llm.top_k", "default"),
        ):
            await search(pilot, key)
            assert rows(app)[1].endswith(source)


@pytest.mark.parametrize("value", ["x", 3, 0.5, True, False, ""])
def test_no_value_is_shown_as_nothing(value: object) -> None:
    assert shown(value).strip()


def test_voices_are_those_of_the_synthesiser() -> None:
    def found(engine: str) -> list[str]:
        spoken = with_values(Settings(), {"tts.engine": engine})
        return [one.value for one in offers.offered(options()["tts.voice"], spoken)]

    assert {"en-us", "de", "es"} <= set(found("espeak"))
    assert found("none") == []


def test_lossy_ideas_are_known() -> None:
    item = options()["llm.verifier"]
    assert offers.lossy(item, "top7")
    assert not offers.lossy(item, LlmSettings().verifier)
    told = {
        name: offers.lossy(options()["llm.decoder"], name) for name in ("speculative", "sps", "sjd", "typical", "judge")
    }
    assert [name for name, lossy in told.items() if lossy] == ["typical", "judge"]
