"""F4: the models of every place, by where they are; what is typed chooses among them, and what answers is kept."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList, Static

from predtui.config import user_file
from predtui.settings import LlmSettings
from predtui.state import events as ev
from predtui.tui.choices import ModelChoice
from tests.models.homes import write
from tests.tui import shelves
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, machine
from tests.tui.test_app import offered, requests, settle, until
from tests.tui.test_choices import requests_of

LOADED = ev.StageStatus(stage="llm", state="ready", message="qwen3:8b · 8.2B · llama.cpp · cpu", time=1.0)


@pytest.fixture(autouse=True)
def filled(monkeypatch: pytest.MonkeyPatch) -> None:
    shelves.fill(Path(os.environ["HOME"]), monkeypatch)


async def test_models_stand_by_where_they_are_with_what_fits(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver([*machine(), LOADED]), model_options=str)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("f4")
        await until(pilot, lambda: "qwen3:8b" in offered(app))
        rows = {row.split()[0]: row for row in offered(app).replace("●", " ").splitlines()}
        order = ["predtui", "pocket", "pulled", "huge-Q4_K_M.gguf", "Hugging", "Ollama", "qwen3:8b", "LM"]
        places = [list(rows).index(name) for name in order]
        assert places == sorted(places)
        assert "needs 49.0 of 8.0 GB" in rows["huge-Q4_K_M.gguf"]
        assert "needs 6.1 GB, 3.0 are free" in rows["qwen3:8b"]
        assert rows["Qwen/Qwen3-0.6B-GGUF:Q8_0"].split()[-1] == "Q8_0"
        assert "mmproj" not in offered(app)
        listed = app.screen.query_one(OptionList)
        assert listed.highlighted is not None
        assert str(listed.get_option_at_index(listed.highlighted).prompt).startswith("● qwen3:8b")


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 36)])
async def test_a_long_name_takes_no_room_from_the_sizes_of_all(make_app: MakeApp, size: tuple[int, int]) -> None:
    name = f"long-{'x' * 180}-Q4_K_M.gguf"
    write(Path(os.environ["HOME"]) / "own/a/b" / name)
    app = make_app(ScriptedDriver([*machine(), LOADED]), model_options=str)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await pilot.press("f4")
        await until(pilot, lambda: "qwen3:8b" in offered(app))
        await pilot.pause()
        (row,) = (row for row in offered(app).splitlines() if "long-" in row)
        room = app.screen.query_one(OptionList).scrollable_content_region.width
        assert "…" in row
        assert row.index("MB") + 2 <= max(room, 30)
        (small,) = (row for row in offered(app).splitlines() if "pocket-draft" in row)
        assert small.index("MB") == row.index("MB")


async def test_what_is_typed_in_the_list_filters_it(make_app: MakeApp) -> None:
    driver = ScriptedDriver([*machine(), LOADED])
    app = make_app(driver, model_options=str)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("f4")
        await until(pilot, lambda: "qwen3:8b" in offered(app))
        everything = offered(app)
        await pilot.press(*"QWEN3 q8")
        assert [row.split()[0] for row in offered(app).splitlines()] == ["Hugging", "Qwen/Qwen3-0.6B-GGUF:Q8_0"]
        assert "filter: QWEN3 q8" in str(app.screen.query_one("#about", Static).render())
        await pilot.press("x")
        assert offered(app) == ""
        await pilot.press("enter", *["backspace"] * 9)
        assert offered(app) == everything
        await pilot.press(*"q8", "enter")
        await pilot.pause()
    assert requests(driver) == [("replace", "llm", "Qwen/Qwen3-0.6B-GGUF:Q8_0")]


async def test_a_name_is_taken_as_a_path_is(make_app: MakeApp) -> None:
    driver = ScriptedDriver([*machine(), LOADED])
    app = make_app(driver, model_options=str)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("f4", "tab")
        for text, said in (
            ("", "Write a name or a path"),
            ("ollama:none", "Ollama has no model none:latest"),
            ("lmstudio:a/none", "predtui models pull a/none"),
        ):
            app.screen.query_one(Input).value = text
            await pilot.press("enter")
            assert said in str(app.screen.query_one("#wrong", Static).render())
        app.screen.query_one(Input).value = "ollama:llama3.2:1b"
        await pilot.press("enter")
        await pilot.pause()
    assert requests(driver) == [("replace", "llm", "ollama:llama3.2:1b")]


def ready(name: str) -> dict[str, ev.StageStatus]:
    return {"llm": ev.StageStatus(stage="llm", state="ready", message=f"{name} · 1B · llama.cpp · cpu")}


def choice(notices: list[tuple[str, str]]) -> ModelChoice:
    options = lambda path: LlmSettings(model=path, engine="torch")  # noqa: E731
    return ModelChoice("auto", options, requests_of(ScriptedDriver(), notices), lambda *line: notices.append(line))


def test_a_choice_is_kept_once_it_answers() -> None:
    model = choice([])
    before = ready("pocket")
    model.choose("a/b", before)
    for stages in (before, {"llm": ev.StageStatus(stage="llm", state="starting")}, ready("pocket"), {}):
        model.follow(stages)
        assert not user_file().exists()
    model.follow(ready("b"))
    assert tomllib.loads(user_file().read_text()) == {"llm": {"model": "a/b", "engine": "torch"}}


@pytest.mark.parametrize("before", [{}, ready("pocket"), {"llm": ev.StageStatus(stage="llm", state="failed")}])
def test_a_choice_that_fails_is_not_kept(before: dict[str, ev.StageStatus]) -> None:
    model = choice([])
    model.choose("a/b", before)
    model.follow(before)
    model.follow({"llm": ev.StageStatus(stage="llm", state="failed", message="cut short")})
    model.follow(ready("another"))
    assert not user_file().exists()


def test_after_a_failure_another_choice_is_kept() -> None:
    model = choice([])
    failed = {"llm": ev.StageStatus(stage="llm", state="failed")}
    model.choose("a/b", failed)
    model.follow(failed)
    model.follow(ready("b"))
    assert tomllib.loads(user_file().read_text())["llm"]["model"] == "a/b"


def test_a_choice_that_cannot_be_kept_is_a_notice() -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("[llm\n")
    notices: list[tuple[str, str]] = []
    model = choice(notices)
    model.choose("a/b", {})
    model.follow(ready("b"))
    assert notices[-1][1] == "warning"
