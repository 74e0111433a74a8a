"""Help is short, whole where that is asked for, and a shell completes what it names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from predtui.commands.cli import app
from predtui.commands.help import ABOUT, FREQUENT, flags
from predtui.errors import PredtuiError
from predtui.settings import options, sections

ROOT: Any = typer.main.get_command(app)


@pytest.fixture(autouse=True)
def _a_window(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PREDTUI_CONFIG_DIR", str(tmp_path))


def said(*words: str) -> str:
    found = CliRunner().invoke(app, list(words), prog_name="predtui")
    assert found.exit_code == 0, found.output
    return found.output


def test_help_fits_a_window_and_begins_with_the_commands() -> None:
    lines = said("--help").splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert lines.index("Commands:") < lines.index("Options:") < lines.index("Settings:")
    assert [
        line.split()[0] for line in lines if line.startswith("  --") and line in lines[lines.index("Settings:") :]
    ] == [flags(options()[key])[0] for key in FREQUENT]


def test_help_all_has_every_setting() -> None:
    words = said("turn", "--help-all")
    assert all(flag in words for item in options().values() for flag in flags(item))
    assert said("turn", "--help").count("\n") < 35


def test_help_of_a_command_is_that_of_the_command() -> None:
    assert said("help", "models", "pull") == said("models", "pull", "--help")
    assert said("help") == said("--help")


@pytest.mark.parametrize("group", sections())
def test_each_group_of_settings_is_listed_and_explained(group: str) -> None:
    names = [key.partition(".")[2] for key in options() if key.startswith(f"{group}.")]
    listed = " ".join(said("help", "settings").split())
    assert f"{group}: {ABOUT[group]}: {', '.join(names)}" in listed
    explained = " ".join(said("help", "settings", group).split())
    for key, item in options().items():
        assert (" ".join(item.meaning.split()) in explained.replace("- ", "-")) or not key.startswith(f"{group}.")


def test_what_there_is_no_help_for_is_told_in_a_line() -> None:
    for words in (["help", "nothing"], ["help", "settings", "nothing"], ["help", "turn", "x"], ["completion", "csh"]):
        with pytest.raises(PredtuiError) as told:
            ROOT(words, standalone_mode=False)
        assert "\n" not in str(told.value)


def completed(folder: Path, *words: str) -> list[str]:
    """What a bash offers for the last of ``words``."""
    command = folder / "predtui"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m predtui "$@"\n')
    command.chmod(0o755)
    typed = " ".join(f"'{word}'" for word in words)
    script = (
        'eval "$(predtui completion bash)"; complete -p predtui >/dev/null || exit 3; '
        f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _predtui_completion predtui; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    room = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], env=room, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.split()


def test_a_real_bash_completes_commands_options_and_values(tmp_path: Path) -> None:
    assert completed(tmp_path, "predtui", "mod") == ["models"]
    assert completed(tmp_path, "predtui", "turn", "--llm-thr") == ["--llm-threads"]
    assert completed(tmp_path, "predtui", "turn", "--verifier", "gre") == ["greedy"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script_of_their_own(shell: str) -> None:
    script = said("completion", shell)
    assert f"_PREDTUI_COMPLETE=complete_{shell}" in script
    assert "predtui" in script
