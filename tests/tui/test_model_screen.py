"""F4: the models of every place, by where they are; what is typed chooses among them, and what answers is kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList, Static

from predtui.settings import LlmSettings
from predtui.state import events as ev
from tests.models.homes import write
from tests.tui import shelves
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, by_path, machine
from tests.tui.test_app import offered, requests, settle, until

LOADED = ev.StageStatus(stage="llm", state="ready", message="qwen3:8b · 8.2B · llama.cpp · cpu", time=1.0)


@pytest.fixture(autouse=True)
def filled(monkeypatch: pytest.MonkeyPatch) -> None:
    shelves.fill(Path(os.environ["HOME"]), monkeypatch)


async def test_models_stand_by_where_they_are_with_what_fits(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver([*machine(), LOADED]), model_options=by_path)
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
    app = make_app(ScriptedDriver([*machine(), LOADED]), model_options=by_path)
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


async def test_what_is_typed_in_the_list_filters_it(make_app: MakeApp, tmp_path: Path) -> None:
    driver = ScriptedDriver([*machine(), LOADED])
    app = make_app(driver, model_options=by_path)
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
    assert requests(driver) == [
        ("replace", "llm", LlmSettings(model="Qwen/Qwen3-0.6B-GGUF:Q8_0", folder=str(tmp_path)))
    ]


async def test_a_name_is_taken_as_a_path_is(make_app: MakeApp, tmp_path: Path) -> None:
    driver = ScriptedDriver([*machine(), LOADED])
    app = make_app(driver, model_options=by_path)
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
    assert requests(driver) == [("replace", "llm", LlmSettings(model="ollama:llama3.2:1b", folder=str(tmp_path)))]
