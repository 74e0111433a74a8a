"""Every setting is an option of a command that takes them, explained with what it may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from predtui.commands.with_settings import Commands, with_settings
from predtui.errors import PredtuiError
from predtui.settings import Settings, options


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PREDTUI_CONFIG_DIR", str(tmp_path))


@pytest.fixture
def command() -> tuple[Any, list[Settings]]:
    got: list[Settings] = []
    app = Commands()

    @app.command("go")
    @with_settings
    def go(settings: Settings) -> None:
        got.append(settings)

    @app.command("other")
    def other() -> None: ...

    return typer.main.get_command(app), got


def test_a_broken_file_ends_a_command_unless_it_asks_for_the_problem(
    command: tuple[Any, list[Settings]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREDTUI_UI_TOUR", raising=False)
    problems: list[str] = []
    app = Commands()

    @app.command("go")
    @with_settings
    def go(settings: Settings, problem: str) -> None:
        assert settings == Settings()
        problems.append(problem)

    @app.command("other")
    def other() -> None: ...

    (tmp_path / "settings.toml").write_text("x = " + "[" * 2000)
    with pytest.raises(PredtuiError, match="nests too deeply"):
        command[0](["go"], standalone_mode=False)
    typer.main.get_command(app)(["go"], standalone_mode=False)
    assert "nests too deeply" in problems[0]
    assert "problem" not in {parameter.name for parameter in typer.main.get_command(app).commands["go"].params}  # type: ignore[attr-defined]


def test_each_setting_has_an_option_by_its_long_name_and_its_short_one(command: tuple[Any, list[Settings]]) -> None:
    flags = {flag for parameter in command[0].commands["go"].params for flag in parameter.opts}
    for key, item in options().items():
        assert "--" + key.replace(".", "-").replace("_", "-") in flags
        assert not item.flag or f"--{item.flag}" in flags


def test_its_help_names_every_value_that_it_may_have(command: tuple[Any, list[Settings]]) -> None:
    helps = {parameter.name: parameter.help for parameter in command[0].commands["go"].params}
    for key, item in options().items():
        said = helps[key.replace(".", "_")]
        assert all(choice in said for choice in item.choices)
        for entry in (one for one in (item.ideas or {}).values() if not one.internal):
            assert entry.help in said
            assert entry.lossless or f"{entry.name}, not lossless" in said


def test_what_is_given_arrives_and_the_rest_is_as_ever(command: tuple[Any, list[Settings]]) -> None:
    run, got = command
    run(["go", "--llm-seed", "7", "--verifier", "top4", "--no-llm-baseline"], standalone_mode=False)
    assert (got[0].llm.seed, got[0].llm.verifier, got[0].llm.baseline) == (7, "top4", False)
    assert got[0].asr == Settings().asr
