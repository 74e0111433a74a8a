"""The list of benchmarks: each is there, shows its options, and says how to get a package that it lacks."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from predtui.errors import PredtuiError
from predtui.lab.commands.bench import BENCHES
from predtui.lab.commands.packages import needed


@pytest.mark.parametrize("name", list(BENCHES))
def test_every_benchmark_shows_its_options(app: typer.Typer, name: str) -> None:
    shown = CliRunner().invoke(app, ["bench", name, "--help"])
    assert shown.exit_code == 0, shown.output
    assert "--json" in shown.output or name == "record"


def test_the_list_imports_no_benchmark(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> Callable[..., Any]:
        raise AssertionError(name)

    monkeypatch.setattr(BENCHES, "factory", refuse)
    shown = CliRunner().invoke(app, ["bench", "--help"])
    assert shown.exit_code == 0
    assert all(name in shown.output for name in BENCHES)


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    app: typer.Typer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without_torch(name: str, *given: Any, **more: Any) -> Any:
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
        return real(name, *given, **more)

    monkeypatch.delitem(__import__("sys").modules, "predtui.lab.bench.zonos", raising=False)
    monkeypatch.setattr(builtins, "__import__", without_torch)
    found = CliRunner().invoke(app, ["bench", "zonos", "--help"])
    assert isinstance(found.exception, PredtuiError)
    assert found.exception.message == "predtui bench zonos needs the package torch."
    assert found.exception.remedy == "Install it: pip install 'predtui[lab]'"


def test_what_training_needs_is_asked_for_before_it_begins() -> None:
    needed("train asr", "json")
    with pytest.raises(PredtuiError, match=r"predtui train asr needs the package no_such_package\."):
        needed("train asr", "json", "no_such_package")
