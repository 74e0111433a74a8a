"""The training commands and calibrate: each shows its options; calibrate writes the profile that it measured."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from predtui.lab import profiles


@pytest.mark.parametrize("name", ["pocket", "cllm", "heads", "draft", "asr", "hush", "band", "rest"])
def test_every_training_shows_its_options(app: typer.Typer, name: str) -> None:
    shown = CliRunner().invoke(app, ["train", name, "--help"])
    assert shown.exit_code == 0, shown.output
    assert "--out" in shown.output


def test_a_profile_is_measured_and_written(app: typer.Typer, tmp_path: Path) -> None:
    out = tmp_path / "here.toml"
    done = CliRunner().invoke(
        app, ["calibrate", "--model", "5", "--engine", "scripted", "--repeats", "1", "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    found = profiles.load(str(out))
    assert found.name == profiles.THIS_MACHINE
    assert found.draft_speed is None
    assert found.forward_seconds(1, 0) > 0


@pytest.mark.parametrize(
    ("command", "trainer"),
    [
        (["heads"], "heads.train.train_heads"),
        (["heads", "--method", "kangaroo"], "heads.kangaroo.train_kangaroo"),
        (["heads", "--method", "ppd"], "heads.soft.train_soft"),
        (["draft"], "draft.train.train_draft"),
    ],
)
def test_who_interrupts_a_training_is_told_how_it_goes_on(
    command: list[str], trainer: str, app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")

    def interrupted(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"predtui.lab.training.{trainer}", interrupted)
    out = ["--out", str(tmp_path / "out"), "--model", "pocket"]
    done = CliRunner().invoke(app, ["train", *command, *out])
    assert "the same command goes on" in done.output
    assert done.exit_code == 130
