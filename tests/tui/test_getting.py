"""F4 gets models and removes them: never without a yes, with what it costs told first, and the app goes on meanwhile.
From a hub of the tests' own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from predtui.models import pull as pulling
from predtui.models.curated import proposals
from predtui.models.places import find
from predtui.settings import LlmSettings, models_folder
from predtui.tui.app import PredtuiApp
from predtui.tui.screens.models import ModelScreen
from predtui.tui.screens.question import QuestionScreen
from predtui.tui.widgets.bars import NoticeBar
from predtui.tui.widgets.prompt import PromptLine
from predtui.tui.widgets.pull import PullBar
from tests import tiny_gguf
from tests.models.hub import HubServer, serving
from tests.models.test_hub import online
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, by_path, machine
from tests.tui.test_app import offered, plain, requests, settle, until


@pytest.fixture(scope="module")
def running() -> Iterator[HubServer]:
    with serving() as hub:
        yield hub


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return tiny_gguf.write(tmp_path_factory.mktemp("tiny") / "tiny.gguf").read_bytes()


@pytest.fixture
def server(running: HubServer, monkeypatch: pytest.MonkeyPatch, weights: bytes) -> HubServer:
    online(monkeypatch)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", running.address)
    running.reset()
    running.repositories["a/m"] = {"m-Q8_0.gguf": weights}
    return running


def text(app: PredtuiApp, where: str) -> str:
    """What a line of F4 says; its page may lie below a question."""
    page = next((screen for screen in app.screen_stack if isinstance(screen, ModelScreen)), None)
    return str(page.query_one(where, Static).render()) if page else ""


def fetched(server: HubServer) -> bool:
    return any("resolve" in path for path, _, _ in server.asked)


async def typed(pilot: Pilot[None], name: str) -> None:
    await pilot.press("f4")
    await pilot.app.workers.wait_for_complete()
    field = pilot.app.screen.query_one(Input)
    field.focus()
    field.value = name
    await pilot.press("enter")


async def asked(pilot: Pilot[None], app: PredtuiApp) -> str:
    """The question, once it is there."""
    await until(pilot, lambda: isinstance(app.screen, QuestionScreen) and bool(app.screen.query(".line")))
    return "\n".join(str(line.render()) for line in app.screen.query(Static))


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_a_name_is_fetched_after_a_yes_and_then_chosen(
    make_app: MakeApp, server: HubServer, size: tuple[int, int], tmp_path: Path
) -> None:
    driver = ScriptedDriver(machine())
    app = make_app(driver, model_options=by_path)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await typed(pilot, "a/m")
        question = await asked(pilot, app)
        assert "a/m:Q8_0" in question
        assert "licence: apache-2.0" in question
        assert "MB to fetch" in question
        assert "are free" in question
        await pilot.press("enter", "enter")
        assert isinstance(app.screen, QuestionScreen)
        assert not fetched(server)
        await pilot.press("y")
        await until(pilot, lambda: "a/m:Q8_0 is here: F4 chooses it" in text(app, "#fetched"))
        await until(pilot, lambda: "m-Q8_0.gguf" in offered(app))
        assert "a/m:Q8_0 is here" in plain(app, NoticeBar)
        assert not app.query_one(PullBar).display
        await pilot.press("shift+tab", *"q8_0", "enter")
        await pilot.pause()
    assert requests(driver) == [("replace", "llm", LlmSettings(model=str(find("a/m")), folder=str(tmp_path)))]


async def test_why_a_model_could_not_be_fetched_is_read_to_its_end(
    make_app: MakeApp, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to do, in a narrow window, too."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=10**9, used=10**9, free=0))
    app = make_app(ScriptedDriver(machine()), model_options=by_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await typed(pilot, "a/m")
        await asked(pilot, app)
        await pilot.press("y")
        await until(pilot, lambda: "are free in" in text(app, "#fetched"))
        await pilot.pause()
        line = app.screen.query_one("#fetched", Static)
        shown = " ".join(" ".join(strip.text for strip in line.render_lines(line.size.region)).split())
        assert "PREDTUI_MODELS_DIR" in shown


@pytest.mark.parametrize("key", ["n", "escape"])
async def test_without_a_yes_nothing_is_fetched(make_app: MakeApp, server: HubServer, key: str) -> None:
    app = make_app(model_options=by_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await typed(pilot, "a/m")
        await asked(pilot, app)
        await pilot.press(key)
        await pilot.pause()
        assert isinstance(app.screen, ModelScreen)
    assert not fetched(server)
    assert not models_folder().exists()


async def test_opening_the_page_asks_nobody(make_app: MakeApp, server: HubServer) -> None:
    app = make_app(model_options=by_path)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        await pilot.press("f4")
        await until(pilot, lambda: "qwen3-4b" in offered(app))
        assert all(name in offered(app) for name in proposals())
        assert "●" not in offered(app)
    assert server.asked == []


async def test_one_of_the_list_is_asked_about(make_app: MakeApp, server: HubServer, weights: bytes) -> None:
    source = proposals()["qwen3-4b"].source
    repository, _, quantisation = source.partition(":")
    server.repositories[repository] = {f"x-{quantisation or 'Q4_K_M'}.gguf": weights}
    app = make_app(model_options=by_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("f4")
        await until(pilot, lambda: "qwen3-4b" in offered(app))
        await pilot.press(*"qwen3-4b", "enter")
        assert "qwen3-4b, of 127.0.0.1" in await asked(pilot, app)
        await pilot.press("y")
        await until(pilot, lambda: "qwen3-4b is here" in text(app, "#fetched"))
        await until(pilot, lambda: "to get" not in offered(app))
    assert find("qwen3-4b").exists()


@pytest.mark.parametrize(
    ("name", "said"), [("a/none", "has no a/none"), ("a/m:Q2_K", "It has Q8_0"), ("https://x/y.bin", ".gguf file")]
)
async def test_what_cannot_be_had_is_a_line(make_app: MakeApp, server: HubServer, name: str, said: str) -> None:
    app = make_app(model_options=by_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await typed(pilot, name)
        await until(pilot, lambda: said in text(app, "#wrong"))
        wrong = app.screen.query_one("#wrong")
        assert wrong.region.height
        assert app.screen.query_one("#page").content_region.contains_region(wrong.region)
    assert not fetched(server)


async def test_it_goes_on_while_the_page_is_closed_and_stops_when_told_to(make_app: MakeApp, server: HubServer) -> None:
    server.repositories["a/m"]["m-Q8_0.gguf"] += bytes(5_000_000)
    server.bodies.extend([("stall", 0.05)] * 100)
    app = make_app(model_options=by_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await typed(pilot, "a/m")
        await asked(pilot, app)
        await pilot.press("y")
        await until(pilot, lambda: "%" in text(app, "#fetched"))
        await pilot.press("escape", *"hello")
        assert app.query_one(PromptLine).value == "hello"
        assert app.query_one(PullBar).display
        assert "a/m:Q8_0: " in plain(app, PullBar)
        await pilot.press("f4", "f5")
        await until(pilot, lambda: "what has come is kept" in text(app, "#fetched"))
        server.bodies.clear()
        server.asked.clear()
        await pilot.press("escape")
        await typed(pilot, "a/m")
        assert "have come before" in await asked(pilot, app)
        await pilot.press("y")
        await until(pilot, lambda: any(part.startswith("bytes=") for _, part, _ in server.asked))


async def test_a_download_that_fails_is_a_line_and_the_next_one_works(make_app: MakeApp, server: HubServer) -> None:
    server.repositories["a/x"] = {"x-Q8_0.gguf": b"<html>sorry"}
    app = make_app(model_options=by_path)
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        for name, said in (("a/x", "is not what its name says"), ("a/m", "is here")):
            await typed(pilot, name)
            await asked(pilot, app)
            await pilot.press("y")
            await until(pilot, lambda said=said: said in text(app, "#fetched"))  # type: ignore[misc]
            await pilot.press("escape")


async def test_an_error_that_nobody_expected_leaves_nothing_standing(
    make_app: MakeApp, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bool:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(pulling.Pull, "run", fail)
    app = make_app(model_options=by_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await typed(pilot, "a/m")
        await asked(pilot, app)
        await pilot.press("y")
        await until(pilot, lambda: "oh" in text(app, "#fetched"))
        assert not app.query_one(PullBar).told.fetching


async def test_a_model_is_removed_after_a_yes_and_only_one_of_ours(
    make_app: MakeApp, tmp_path: Path, weights: bytes
) -> None:
    ours = models_folder() / "a" / "m" / "mine-Q8_0.gguf"
    theirs = tmp_path / "theirs.gguf"
    ours.parent.mkdir(parents=True)
    for path in (ours, theirs):
        path.write_bytes(weights)
    app = make_app(ScriptedDriver(machine()), model_options=by_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("f4")
        await until(pilot, lambda: "mine-Q8_0" in offered(app))
        await pilot.press(*"theirs", "delete")
        assert "not predtui's to remove" in text(app, "#wrong")
        await pilot.press(*["backspace"] * 6, *"mine", "delete")
        assert str(ours) in (await asked(pilot, app)).replace("\n", "")
        await pilot.press("n", "delete")
        assert ours.exists()
        await asked(pilot, app)
        await pilot.press("y")
        await until(pilot, lambda: not ours.exists() and offered(app) == "")
    assert theirs.exists()
