"""The one door to every engine, and that each of the registry keeps what its entry promises."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, ModelRequest
from predtui.llm.llamacpp import compile as build
from predtui.llm.llamacpp import engine as llamacpp
from predtui.llm.load import inspect, load, preparing
from predtui.models.shipped import MODELS
from predtui.registry import LLM_ENGINES, Entry, Registry
from predtui.settings import options


def test_an_engine_that_is_none_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(PredtuiError, match=r"There is no engine 'lamacpp'. Did you mean llamacpp\?"):
        load(engine="lamacpp")
    with pytest.raises(PredtuiError, match=r"Choose one of llamacpp, .*numpy"):
        inspect(engine="?")
    with pytest.raises(PredtuiError, match="no engine"):
        list(preparing("?", ModelRequest("pocket")))


def test_settings_offer_every_engine_but_those_for_tests() -> None:
    assert options()["llm.engine"].choices == tuple(name for name in LLM_ENGINES if name != "scripted")
    assert isinstance(load("7", "scripted"), LoadedModel)
    assert inspect("7", "scripted") == "7"


@pytest.mark.parametrize("name", [name for name, entry in LLM_ENGINES.items() if entry.reads])
def test_every_engine_says_what_is_wrong_with_a_model_that_is_not_there(name: str, tmp_path: Path) -> None:
    if name == "torch" and importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    missing = str(tmp_path / "nothing")
    with pytest.raises(PredtuiError, match="nothing"):
        load(missing, name)
    with pytest.raises(PredtuiError, match="nothing"):
        inspect(missing, name)
    assert list(preparing(name, ModelRequest(missing))) == [(f"loading {missing}", -1.0)]


def test_torch_is_asked_for_before_it_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for look in (load, inspect):
        with pytest.raises(PredtuiError, match="needs PyTorch"):
            look("pocket", "torch")


def test_without_llama_cpp_numpy_runs_what_ships_and_the_rest_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(build, "available", lambda: False)
    assert load("pocket-draft").engine == "numpy"
    with pytest.raises(PredtuiError, match="Choose pocket meanwhile"):
        load(str(tmp_path / "model.gguf"))
    assert [name for name in MODELS if not llamacpp.stands_in(name)] == ["pocket-cllm"]


def test_a_compile_is_waited_for_where_nothing_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiling() -> Iterator[build.Build]:
        yield from (build.Build("compiling", 0.0, 1, done) for done in (0.1, 0.5))

    monkeypatch.setattr(build, "until_done", compiling)
    assert [progress for _, progress in preparing("llamacpp", ModelRequest("x.gguf"))] == [0.1, 0.5, -1.0]
    assert [progress for _, progress in preparing("llamacpp", ModelRequest("pocket"))] == [-1.0]


def test_an_entry_brings_its_own_factory_check_and_preparation() -> None:
    registry = Registry("thing", Entry("plain", "math:sqrt", "roots"), Entry("hidden", "math:exp", "", internal=True))
    assert registry.factory("plain")(9.0) == 3.0
    assert registry.check("plain") is registry.prepare("plain") is None
    assert registry.offered() == ("plain",)
    assert registry.lines() == ["plain: roots"]


@pytest.mark.parametrize("engine", ["llamacpp", "numpy", "torch"])
@pytest.mark.parametrize("named", ["~nosuchuser/x", "x" * 5000, "a\0b", "pipe", "/dev/zero", "."])
def test_a_path_of_no_model_is_one_line_and_no_wait(
    engine: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with pytest.raises(PredtuiError) as refused:
        inspect(named, engine)
    assert len(str(refused.value).splitlines()) == 1
