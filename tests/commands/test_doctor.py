"""What the doctor says of a model's weights, with the self-test's crash simulated by a child that kills itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from predtui.commands.checks import language_model, machine
from predtui.commands.checks.finding import Finding
from predtui.commands.doctor import examine, typed_turn_works
from predtui.lab import random_gguf
from predtui.llm.gguf import read_header
from predtui.llm.llamacpp import repacking
from predtui.settings import LlmSettings, Settings
from tests.tiny_gguf import write


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("PREDTUI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(repacking, "_CHILD", "import os; os.kill(os.getpid(), 11)")
    return Settings(llm=LlmSettings(model=str(write(tmp_path / "tiny.gguf"))))


def told(settings: Settings, testing: bool = False) -> list[Finding]:
    return [finding for finding in examine(settings, testing) if finding.subject == "weight repacking"]


def test_the_self_test_is_run_where_asked_for_and_remembered(model: Settings) -> None:
    (before,) = told(model)
    assert "not tested yet for F16" in before.detail
    assert "doctor --model" in before.remedy
    (tested,) = told(model, testing=True)
    assert "off for F16: the self-test was killed by SIGSEGV" in tested.detail
    assert told(model) == [tested]


@pytest.mark.parametrize(
    ("signal", "before", "foreign"),
    [(4, "", True), (4, '{"stored": {"ms": {"1": 2.0}}}', False), (11, "", False)],
)
def test_a_llama_cpp_for_another_processor_is_to_be_compiled_again(
    signal: int, before: str, foreign: bool, model: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"import os; print({before!r}, flush=True); os.kill(os.getpid(), {signal})"
    monkeypatch.setattr(repacking, "_CHILD", code)
    (tested,) = told(model, testing=True)
    assert (tested.state == "broken") is foreign
    assert ("--no-cache-dir" in tested.remedy) is foreign
    assert typed_turn_works([tested]) is not foreign
    assert told(model) == [tested]


@pytest.mark.parametrize(
    ("ours", "cores", "asked", "says", "compiled"),
    [
        (True, 2, 0, "2 for this model, fewer while others work", False),
        (False, 2, 0, "1 for this model: one core is left", True),
        (False, 16, 0, "4 for this model", False),
        (False, 2, 3, "3, as the settings say", False),
    ],
)
def test_threads_are_told_with_what_keeps_them_few(
    ours: bool, cores: int, asked: int, says: str, compiled: bool, model: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("predtui.llm.llamacpp.threads.gives_way", lambda: ours)
    monkeypatch.setattr("predtui.llm.threads._allowed", lambda: set(range(cores)))
    monkeypatch.setattr("psutil.cpu_count", lambda logical=True: cores)
    large = replace(read_header(Path(model.llm.model)), parameters=10**9)
    monkeypatch.setattr("predtui.llm.gguf.read_header", lambda path: large)
    named = Settings(llm=LlmSettings(model=model.llm.model, threads=asked))
    (finding,) = (finding for finding in examine(named) if finding.subject == "threads")
    assert finding.detail.startswith(says)
    assert ("predtui.llm.llamacpp.compile" in finding.remedy) is compiled


def test_a_check_of_the_model_that_fails_is_no_turn_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Settings) -> list[Finding]:
        raise RecursionError("too deep")

    monkeypatch.setattr(broken, "__name__", "language_model")
    monkeypatch.setattr(language_model, "language_model", broken)
    findings = list(examine(Settings()))
    (crashed,) = (finding for finding in findings if finding.subject == "language model")
    assert (crashed.state, crashed.needed) == ("broken", True)
    assert "RecursionError: too deep" in crashed.detail
    assert not typed_turn_works(findings)


def test_settings_that_are_not_used_are_told() -> None:
    finding = next(examine(Settings(), problem="settings.toml: no"))
    assert finding.detail == "settings.toml: no"
    assert not typed_turn_works([finding])


def test_types_that_are_never_repacked_are_not_tested() -> None:
    (finding,) = told(Settings(), testing=True)
    assert "nothing to test" in finding.detail


def test_nothing_is_said_of_weights_that_cannot_be_read() -> None:
    assert told(Settings(llm=LlmSettings(model="/absent/model.gguf"))) == []
    assert told(Settings(llm=LlmSettings(engine="torch"))) == []


@pytest.mark.parametrize(("family", "told_of"), [("lfm2", True), ("llama", False)])
def test_a_cache_that_cannot_be_cut_is_told_with_what_that_costs(
    family: str, told_of: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREDTUI_CACHE_DIR", str(tmp_path / "cache"))
    path = random_gguf.write(tmp_path / "tiny.gguf", random_gguf.Shape(family))
    findings = list(language_model.abilities(Settings(llm=LlmSettings(model=str(path), weights="stored"))))
    assert ("fewer than" in findings[0].detail) == told_of, "what the model can comes first"
    told = [finding.detail for finding in findings if finding.subject == "cache"]
    assert bool(told) == told_of
    assert all("copies" in detail and "tokens a word" in detail for detail in told)


@pytest.mark.parametrize(("free", "state"), [(0, "broken"), (2**30, "found")])
def test_a_full_disk_is_told(free: int, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _folder: SimpleNamespace(free=free))
    found = next(finding for finding in machine.settings(Settings()) if finding.subject == "log folder")
    assert found.state == state
    assert bool(found.remedy) == (state == "broken")
