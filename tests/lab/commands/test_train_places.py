"""Where a trainer writes by default: for a model that ships, where it ships; for another, under its own name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from predtui.errors import PredtuiError
from predtui.lab.commands.train import CLLM, HEADS, apart, place_for
from predtui.models.shipped import place
from predtui.settings import trained_folder
from tests import tiny_folder, tiny_gguf

pytest.importorskip("transformers")


def test_what_ships_is_trained_where_it_ships_and_nothing_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREDTUI_DATA_DIR", str(tmp_path / "data"))
    mine = tiny_folder.write(tmp_path / "mine")
    assert place_for("pocket", "heads", HEADS) == HEADS
    assert place_for("pocket", "cllm", CLLM).absolute() == place("pocket-cllm")
    assert place_for(str(mine), "heads", HEADS) == trained_folder() / "mine" / "heads"
    assert place_for(str(mine), "draft", HEADS) == tmp_path / "data" / "trained" / "mine" / "draft"


def test_a_model_that_is_not_here_is_told_of_before_anything_is_trained(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="gone"):
        place_for(str(tmp_path / "gone"), "heads", HEADS)


def test_no_model_is_written_over_by_what_is_trained_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mine, file = tiny_folder.write(tmp_path / "mine"), tiny_gguf.write(tmp_path / "model.gguf")
    for model, folder in ((mine, Path("mine")), (file, Path()), (mine, tmp_path / "mine" / ".." / "mine")):
        with pytest.raises(PredtuiError, match="would be written over"):
            apart(folder, str(model))
    assert apart(Path("mine/heads"), str(mine)) == Path("mine/heads")


def test_a_folder_where_no_work_can_be_kept_is_named_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build").touch()
    with pytest.raises(PredtuiError, match=r"build, where replies and checkpoints are kept, cannot be written"):
        apart(tmp_path / "out", str(tiny_folder.write(tmp_path / "mine")))


@pytest.mark.parametrize(
    "options",
    ["heads --steps 0", "draft --steps -3", "heads --seed 99999999999999999999", "judge --seed -1", "cllm --threads -1",
     "draft --threads 100000", "cllm --muon-lr nan", "cllm --minutes nan", "heads --prompts {pipe}",
     "judge --prompts {folder}"],
)  # fmt: skip
def test_what_no_trainer_can_take_is_refused_before_it_begins(options: str, app: typer.Typer, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    words = options.format(pipe=tmp_path / "pipe", folder=tmp_path).split()
    refused = CliRunner().invoke(app, ["train", *words, "--model", str(tmp_path / "gone")])
    assert refused.exit_code
    assert "gone" not in f"{refused.output}{refused.exception}", "the option is looked at first"
