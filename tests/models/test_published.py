"""Which model a name means, with the real models installed and without, and what is said where they are missing."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.asr.faster_whisper import find_checkpoint
from predtui.asr.whisperflow.files import find_model
from predtui.commands.doctor import examine
from predtui.errors import PredtuiError
from predtui.llm.default import language_model
from predtui.llm.llamacpp import compile as build
from predtui.llm.llamacpp.engine import file_of
from predtui.llm.load import inspect, load
from predtui.models import published as real
from predtui.models.published import REAL, SMOLLM2, TINY_EN, find, missing, whisper
from predtui.models.shipped import POCKET, asset
from predtui.predgen.options import SpeculationOptions
from predtui.registry import LLM_ENGINES
from predtui.runtime.build import resolved
from predtui.settings import AUTO, AsrSettings, LlmSettings, Settings, options
from tests.absent import hide

ROOT = Path(__file__).resolve().parents[2]
MODULES = tuple(model.module for model in REAL)


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, *MODULES)
    monkeypatch.delenv(real.EMBEDDED, raising=False)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Packages by the names of theirs, which cannot be imported."""
    monkeypatch.delenv(real.EMBEDDED, raising=False)
    for model in REAL:
        path = tmp_path / model.module / model.file
        path.parent.mkdir(parents=True)
        (tmp_path / model.module / "__init__.py").write_text("raise SystemExit('imported')")
        path.mkdir() if model is TINY_EN else path.touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_the_extra_asks_for_the_same_wheels() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["real"] == [model.requirement for model in REAL]


def test_they_are_found_without_importing_their_packages(installed: Path) -> None:
    assert file_of(SMOLLM2.name) == installed / SMOLLM2.module / SMOLLM2.file
    assert find_checkpoint(AsrSettings(model=TINY_EN.name)) == installed / TINY_EN.module / TINY_EN.file
    assert missing() == ()
    assert not set(MODULES) & set(sys.modules)


def test_a_package_without_its_file_is_none(installed: Path) -> None:
    (installed / SMOLLM2.module / SMOLLM2.file).unlink()
    assert find(SMOLLM2) is None
    assert missing() == (SMOLLM2,)


@pytest.mark.parametrize("engine", [name for name, entry in LLM_ENGINES.items() if entry.reads])
@pytest.mark.parametrize("compiled", [True, False])
def test_auto_is_the_real_model_where_something_runs_it(
    installed: Path, monkeypatch: pytest.MonkeyPatch, engine: str, compiled: bool
) -> None:
    monkeypatch.setattr(build, "available", lambda: compiled)
    chosen = language_model(AUTO, engine)
    assert chosen == (SMOLLM2.name if engine == "llamacpp" and compiled else POCKET)
    assert SpeculationOptions.of(LlmSettings(engine=engine)).model == chosen
    assert language_model(AUTO, engine, embedded=True) == POCKET


def test_auto_is_what_ships_where_they_are_missing(absent: None) -> None:
    assert resolved(Settings()) == resolved(Settings(), embedded=True)
    assert (resolved(Settings()).llm.model, resolved(Settings()).asr.model) == (POCKET, POCKET)
    assert find_model(AsrSettings(engine="whisperflow")) == asset("whisper", "ctranslate2")


def test_the_tests_run_on_what_ships() -> None:
    assert resolved(Settings()) == resolved(Settings(), embedded=True)


def test_with_them_auto_hears_people(installed: Path) -> None:
    for engine in options()["asr.engine"].choices:
        assert whisper(AUTO, engine) == TINY_EN.name
    assert resolved(Settings(), embedded=True).asr.model == POCKET


@given(st.text(min_size=1).filter(lambda name: name != AUTO), st.sampled_from(["llamacpp", "numpy", "torch"]))
def test_a_model_that_is_named_is_that_one(name: str, engine: str) -> None:
    assert language_model(name, engine) == name
    assert whisper(name, engine) == name
    assert resolved(resolved(Settings(llm=LlmSettings(model=name)))).llm.model == name


def test_where_they_are_missing_the_line_says_how_to_get_them(absent: None) -> None:
    for look in (file_of, inspect, load):
        with pytest.raises(PredtuiError, match=r"smollm2 is not installed. Get it \(93 MB\): (make|predtui) real$"):
            look(SMOLLM2.name)
    with pytest.raises(PredtuiError, match=r"tiny.en is not on this machine.* Get it \(71 MB\): (make|predtui) real"):
        find_checkpoint(AsrSettings(model=TINY_EN.name))


def test_an_engine_that_cannot_read_it_says_which_does() -> None:
    with pytest.raises(PredtuiError, match=r"GGUF file.*--engine llamacpp"):
        load(SMOLLM2.name, "numpy")


def test_faster_whisper_does_not_take_the_pocket_whisper() -> None:
    with pytest.raises(PredtuiError, match="--asr whisperflow"):
        find_checkpoint(AsrSettings(model=POCKET))


def test_make_is_named_in_the_environment_that_make_has_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(ROOT / ".venv"))
    assert real.how() == "make real"
    monkeypatch.setattr(sys, "prefix", "/usr")
    assert real.how() == "predtui real"


def test_the_doctor_tells_of_both(absent: None) -> None:
    (finding,) = (one for one in examine(Settings()) if one.subject == "real models")
    assert finding.state == "missing"
    assert not finding.needed
    assert "164 MB" in finding.remedy


def test_the_doctor_tells_where_they_are_and_whether_they_are_used(installed: Path) -> None:
    settings = Settings(llm=LlmSettings(model=POCKET), asr=AsrSettings(model=TINY_EN.name))
    first, second = (one for one in examine(settings) if one.subject == "real models")
    assert str(installed) in first.detail
    assert "not used" in first.detail
    assert "MIT" in second.detail
    assert "not used" not in second.detail
