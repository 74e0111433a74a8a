"""A model's files appear together."""

from __future__ import annotations

from pathlib import Path

import pytest

from predtui.errors import PredtuiError

pytest.importorskip("safetensors")

from safetensors import SafetensorError

from predtui.lab.training.staged import staged


def write(folder: Path, error: Exception | None = None, **files: str) -> None:
    with staged(folder) as fresh:
        for name, text in files.items():
            (fresh / name).write_text(text)
        if error:
            raise error


@pytest.mark.parametrize("error", [SafetensorError("File too large"), OSError(28, "No space left on device")])
def test_files_come_together_and_those_of_an_older_model_leave(tmp_path: Path, error: Exception) -> None:
    folder = tmp_path / "deep" / "model"
    write(folder, config="1", model_a="1", model_b="1")
    (folder / "README.md").write_text("kept")
    with pytest.raises(PredtuiError, match=r"model cannot be written: (File|No space)"):
        write(folder, error, config="2", model_a="2")
    before = {"README.md": "kept", "config": "1", "model_a": "1", "model_b": "1"}
    assert {path.name: path.read_text() for path in folder.iterdir()} == before
    write(folder, config="2", model_a="2")
    assert {path.name for path in folder.iterdir()} == {"README.md", "config", "model_a"}
    assert (folder / "config").read_text() == "2"
