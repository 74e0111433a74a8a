"""Makes the app on a scripted driver, with settings in a folder of its own, a clock that only tests move, and without
the real models, so that what is drawn does not depend on what is installed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from predtui.clock import VirtualClock
from predtui.models.published import REAL
from predtui.models.shipped import themes_folder
from predtui.settings import LlmSettings, Settings, UiSettings
from predtui.tui.app import PredtuiApp
from predtui.tui.themes import load_themes
from predtui.tui.widgets.prompt import PromptLine
from tests.absent import hide
from tests.models.homes import alone
from tests.tui.scenes import ScriptedDriver

MakeApp = Callable[..., PredtuiApp]


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hide(monkeypatch, *(model.module for model in REAL))
    monkeypatch.setenv("PREDTUI_CONFIG_DIR", str(tmp_path / "config"))
    alone(monkeypatch, tmp_path / ".home")
    monkeypatch.chdir(tmp_path)  # where conversations are saved


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(100.0)


@pytest.fixture
def make_app(clock: VirtualClock, tmp_path: Path) -> MakeApp:
    def make(driver: ScriptedDriver | None = None, theme: str = "midnight", **options: Any) -> PredtuiApp:
        chosen: dict[str, Any] = {"clock": clock, **options}
        ui = UiSettings(theme=theme, preset=chosen.pop("preset", "lab"))
        usual = Settings(ui=ui, llm=LlmSettings(folder=str(tmp_path)))
        settings = chosen.pop("settings", usual)
        themes = chosen.pop("themes", load_themes([themes_folder()]))
        return PredtuiApp(driver or ScriptedDriver(), settings, themes, **chosen)

    return make


@pytest.fixture
def snap_compare(snap_compare: Callable[..., bool]) -> Callable[..., bool]:
    """The plugin's comparison, of a screen on which nothing blinks or is still being drawn on a busy machine."""

    def compare(app: PredtuiApp, run_before: Callable[[Pilot[None]], Awaitable[None]], **options: Any) -> bool:
        async def settle(pilot: Pilot[None]) -> None:
            await pilot.pause()
            await pilot.app.workers.wait_for_complete()
            pilot.app.query_one(PromptLine).cursor_blink = False
            await run_before(pilot)
            for field in (field for screen in pilot.app.screen_stack for field in screen.query(Input)):
                field.cursor_blink = False
            await still(pilot)

        return snap_compare(app, run_before=settle, **options)

    return compare


async def still(pilot: Pilot[None], looks: int = 3) -> None:
    """Waits until no frame is due, and the screen looks the same for some looks (at most 10 s)."""
    seen: list[str] = []
    end = time.monotonic() + 10
    while time.monotonic() < end:
        seen.append(pilot.app.export_screenshot(simplify=True))
        if len(seen) >= looks and len(set(seen[-looks:])) == 1 and not pilot.app.frames.due:  # type: ignore[attr-defined]
            return
        await pilot.pause(0.03)
