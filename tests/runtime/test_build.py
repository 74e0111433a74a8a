"""Settings into a pipeline: every stage, by names alone, with the options that are its own."""

from __future__ import annotations

import importlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from predtui.runtime import build
from predtui.runtime.build import log_file, make_pipeline, resolved, stage_specs
from predtui.runtime.manner import manner_of
from predtui.runtime.needs import needs
from predtui.runtime.stages import STAGES
from predtui.settings import AsrSettings, LlmSettings, SafetySettings, Settings, TtsSettings
from predtui.state.stage import StageSpec


def test_there_is_one_spec_a_stage_in_order_and_each_factory_exists() -> None:
    specs = stage_specs(Settings())
    assert tuple(spec.name for spec in specs) == STAGES
    for spec in specs:
        module, _, name = spec.factory.partition(":")
        assert callable(getattr(importlib.import_module(module), name))


def test_only_what_is_asked_for_is_run_and_another_stage_may_take_a_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: dict[str, object] = {}

    def pipeline(specs: list[StageSpec], **options: object) -> None:
        made.update(options, specs=specs)

    monkeypatch.setattr(build, "Pipeline", pipeline)
    monkeypatch.setattr(build, "state_folder", lambda: tmp_path)
    settings = Settings()
    other = StageSpec("llm", "tests.cast:llm")
    unasked = StageSpec("tts", "tests.cast:tts")
    make_pipeline(
        replace(settings, llm=replace(settings.llm, pause_ms=250, baseline=False)),
        {"llm", "mic"},
        (other, unasked),
        7.0,
    )
    specs = made["specs"]
    assert isinstance(specs, list)
    assert {spec.name for spec in specs} == {"llm", "mic"}
    assert replace(other, needs=needs()["llm"]) in specs
    assert (made["manner"], made["idle_s"]) == (replace(manner_of(settings), pause_s=0.25, measures=False), 7.0)
    make_pipeline(replace(settings, safety=SafetySettings(confined=False)))
    unconfined = made["specs"]
    assert isinstance(unconfined, list)
    assert {spec.needs for spec in unconfined} == {None}


def test_without_a_folder_that_can_be_written_there_is_no_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(build, "state_folder", lambda: tmp_path / "state")
    assert log_file() == tmp_path / "state" / "predtui.log"
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(build, "state_folder", lambda: tmp_path / "file" / "below")
    assert log_file() is None


def test_names_of_models_that_are_given_stay_and_auto_becomes_one() -> None:
    settings = Settings()
    automatic = replace(settings, llm=replace(settings.llm, model="auto"), asr=replace(settings.asr, model="auto"))
    found = resolved(automatic, embedded=True)
    assert "auto" not in (found.llm.model, found.asr.model)
    assert resolved(found, embedded=True) == found


def test_building_imports_no_engine() -> None:
    program = (
        "import sys\n"
        "from predtui.runtime.build import stage_specs\n"
        "from predtui.settings import Settings\n"
        "stage_specs(Settings())\n"
        "print(*sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    engines = {"torch", "llama_cpp", "onnxruntime", "faster_whisper", "pocketsphinx", "sounddevice", "textual"}
    assert not engines & set(done.stdout.split())


def test_every_stage_has_its_share_of_threads_and_keeps_it_when_its_options_change() -> None:
    """The language model's engine knows its own once it knows the model; Zonos may take all."""
    settings = Settings(asr=AsrSettings(threads=2), llm=LlmSettings(threads=3), tts=TtsSettings(engine="zonos"))
    usual, chosen = ({spec.name: spec.threads for spec in stage_specs(one)} for one in (Settings(), settings))
    assert usual == {"mic": 1, "asr": 1, "llm": 0, "tts": 1, "player": 1}
    assert chosen == {"mic": 1, "asr": 2, "llm": 3, "tts": 0, "player": 1}
