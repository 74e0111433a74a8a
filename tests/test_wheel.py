"""The wheel: everything that ships is inside, and uv and pip (through pipx) install it where it plays a turn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 42_000_000
"""Bytes that the wheel may have."""


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
    assert "predtui/_shipped/assets/pocket/draft/model.gguf" in names
    for method in ("medusa", "hydra", "eagle", "clover", "falcon", "chimera"):
        assert f"predtui/_shipped/assets/heads/{method}/heads.safetensors" in names
    assert "predtui/tui/predtui.tcss" in names
    sources = ("llama.cmake", "amx.h", "attention.h", "barrier.h")
    assert {f"predtui/llm/llamacpp/{source}" for source in sources} <= names
    assert {"predtui/py.typed", "predtui/models/curated.toml"} <= names
    assert not any(name.startswith("tests/") for name in names)


def test_a_model_ships_in_one_form_and_the_wheel_is_small(wheel: Path) -> None:
    names = [Path(name) for name in zipfile.ZipFile(wheel).namelist() if name.startswith("predtui/_shipped/assets/")]
    weights = [path for path in names if path.name.startswith("model.")]
    folders = [path.parent for path in weights]
    assert len(set(folders)) == len(folders) == 4
    assert not any(one in other.parents for one in folders for other in folders)
    assert wheel.stat().st_size < LARGEST


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with llama-cpp-python as a wheel: what is installed here, packed, since it takes minutes to compile."""
    installed = distribution("llama-cpp-python")
    folder = tmp_path_factory.mktemp("compiled")
    with zipfile.ZipFile(folder / f"llama_cpp_python-{installed.version}-py3-none-any.whl", "w") as archive:
        for file in installed.files or ():
            if (
                ".." not in file.parts
                and "__pycache__" not in file.parts
                and file.name not in ("INSTALLER", "REQUESTED")
            ):
                archive.write(file.locate(), str(file))
    return folder


def environment(home: Path) -> dict[str, str]:
    """That of a new user whose folders are all below ``home``."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREDTUI_", "PYTHON", "VIRTUAL"))}
    own = ("PREDTUI_CONFIG_DIR", "PREDTUI_STATE_DIR", "PIPX_HOME", "PIPX_BIN_DIR", "UV_TOOL_DIR", "UV_TOOL_BIN_DIR")
    return kept | {name: str(home / name.lower()) for name in own}


def test_uv_installs_it_as_a_tool(wheel: Path, compiled: Path, tmp_path: Path) -> None:
    options = ["--find-links", compiled, "--no-build-package", "llama-cpp-python", "--python", sys.executable]
    install = [sys.executable, "-m", "uv", "tool", "install", *options, wheel]
    done = subprocess.run(install, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    plays_a_turn(tmp_path / "uv_tool_bin_dir" / "predtui", tmp_path)


def test_pip_installs_it_without_torch_as_pipx_has_it_do(wheel: Path, compiled: Path, tmp_path: Path) -> None:
    pip = f"--find-links={compiled} --only-binary=llama-cpp-python"
    install = [sys.executable, "-m", "pipx", "install", "--python", sys.executable, f"--pip-args={pip}", wheel]
    done = subprocess.run(install, env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (python,) = (tmp_path / "pipx_home").glob("venvs/*/bin/python")
    absent = subprocess.run([python, "-c", "import torch"], cwd=tmp_path, capture_output=True, text=True)
    assert "No module named" in absent.stderr
    plays_a_turn(tmp_path / "pipx_bin_dir" / "predtui", tmp_path)


def plays_a_turn(predtui: Path, home: Path) -> None:
    turn = [predtui, "turn", "--text", "what is the capital of france", "--cps", "40", "--json"]
    done = subprocess.run(turn, cwd=home, env=environment(home), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert any("llama.cpp" in line.get("message", "") for line in lines)
    assert "Paris" in lines[-1]["summary"]["reply"]
    assert lines[-1]["summary"]["lossless"] is True
