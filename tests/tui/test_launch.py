"""Which engine runs a model that is named, and what a screen is opened with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from predtui.models.places import hugging_face
from predtui.registry import Entry, Registry
from predtui.runtime.pipeline import Pipeline
from predtui.settings import Settings
from predtui.tui import launch
from predtui.tui.launch import engine_of
from tests.models.homes import STUB, alone, cached, in_ollama


@pytest.mark.parametrize(
    ("model", "engine", "runs"),
    [
        ("pocket", "torch", "torch"),
        ("pocket", "llamacpp", "llamacpp"),
        ("pocket-cllm", "torch", "llamacpp"),
        ("/models/Big.GGUF", "torch", "llamacpp"),
        ("smollm2", "numpy", "llamacpp"),
        ("/", "llamacpp", "torch"),
        ("/", "numpy", "numpy"),
        ("/nowhere", "numpy", "numpy"),
    ],
)
def test_a_model_is_run_by_what_can_read_it(model: str, engine: str, runs: str) -> None:
    assert engine_of(model, engine) == runs


def test_a_name_is_run_by_what_reads_its_form(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = alone(monkeypatch, tmp_path / ".home")
    cached(hugging_face(), "a/gguf", {"x-Q8_0.gguf": STUB})
    cached(hugging_face(), "a/folder", {"config.json": b"{}", "model.safetensors": STUB})
    in_ollama(home / ".ollama" / "models")
    assert engine_of("a/gguf", "torch") == engine_of("ollama:qwen3:8b", "torch") == "llamacpp"
    assert engine_of("a/folder", "llamacpp") == "torch"
    assert engine_of("a/none", "numpy") == "numpy"


def test_a_broken_settings_file_is_a_notice_of_a_screen_that_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Screen:
        return_code = 0

        def __init__(self, pipeline: Any, settings: Settings, themes: Any, **_: Any) -> None:
            shown.extend(themes.problems)

        def run(self) -> None: ...

    monkeypatch.setattr(launch, "PredtuiApp", Screen)
    assert launch.open_screen(Settings(), pipeline=Pipeline([]), problem="settings.toml: no") == 0
    assert shown == ["settings.toml: no"]


def test_an_engine_is_known_by_what_its_entry_says_that_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Entry("mine", "mine:load", "reads folders", reads=frozenset({"folder"}))
    monkeypatch.setattr("predtui.tui.launch.LLM_ENGINES", Registry("engine", entry))
    assert engine_of("/", "torch") == "mine"
    assert engine_of("/models/big.gguf", "torch") == "torch"
