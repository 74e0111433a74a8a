"""The wheel: everything that ships is inside, and a new environment without PyTorch plays a turn from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return next(out.glob("predtui-*.whl"))


def test_themes_models_and_styles_ship(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert sum(name.startswith("predtui/_shipped/themes/") and name.endswith(".toml") for name in names) >= 8
    assert "predtui/_shipped/assets/pocket/target/model.gguf" in names
    assert "predtui/_shipped/assets/pocket/draft/model.safetensors" in names
    assert "predtui/tui/predtui.tcss" in names
    assert "predtui/py.typed" in names
    assert not any(name.startswith("tests/") for name in names)


def test_a_new_environment_plays_a_turn(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", str(wheel)], check=True, capture_output=True, text=True)
    absent = subprocess.run([python, "-c", "import torch"], cwd=tmp_path, capture_output=True, text=True)
    assert absent.returncode != 0

    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PREDTUI_", "PYTHON"))}
    environment |= {"PREDTUI_CONFIG_DIR": str(tmp_path), "PREDTUI_STATE_DIR": str(tmp_path)}
    turn = [home / "bin" / "predtui", "turn", "--text", "what is the capital of france", "--cps", "40", "--json"]
    done = subprocess.run(turn, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout.splitlines()[-1])["summary"]
    assert "Paris" in summary["reply"]
    assert summary["lossless"] is True
