"""Makes the app on a scripted driver, with settings in a folder of its own, a clock that only tests move, and without
the real models, so that what is drawn does not depend on what is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from predtui.clock import VirtualClock
from predtui.models.published import REAL
from predtui.models.shipped import themes_folder
from predtui.settings import LlmSettings, Settings, UiSettings
from predtui.tui.app import PredtuiApp
from predtui.tui.themes import load_themes
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
