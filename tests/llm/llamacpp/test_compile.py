"""The compile of llama.cpp that goes on behind the app: what is told of it, and who answers meanwhile."""

from __future__ import annotations

import json
import logging
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from predtui.clock import RealClock
from predtui.errors import PredtuiError
from predtui.llm import load
from predtui.llm.llamacpp import compile as build
from predtui.models.shipped import POCKET_DRAFT
from predtui.settings import LlmSettings, Settings
from predtui.state.events import Message
from predtui.state.stage import StageContext

ROOT = Path(__file__).resolve().parents[3]


def pretend(folder: Path, *lines: str, status: int = 0) -> int:
    """Runs a compile that prints ``lines``; its status."""
    program = f"print({chr(10).join(lines)!r}); raise SystemExit({status})"
    return build.run([[sys.executable, "-c", program]], folder)


def under_way(folder: Path, **changes: object) -> None:
    entry = {"state": "compiling", "begun": 0.0, "pid": os.getpid(), "fraction": 0.43} | changes
    (folder / "llama-build.json").write_text(json.dumps(entry))


@pytest.fixture
def compiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment in which llama.cpp is 43 % compiled."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    under_way(tmp_path)
    return tmp_path


@pytest.mark.parametrize("steps", [["[1/4] a.cpp", "[3/4] b.cpp"], ["[ 10%] Building", "  [ 75%] Building"]])
def test_progress_is_read_from_ninja_and_from_make(
    steps: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[build.Build] = []
    write = build._write
    monkeypatch.setattr(build, "_write", lambda told, folder=None: (seen.append(told), write(told, folder)))
    assert pretend(tmp_path, "Collecting llama-cpp-python", *steps) == 0
    assert (seen[0].state, seen[0].fraction) == ("fetching", 0.0)
    assert (seen[-1].state, seen[-1].fraction) == ("compiling", 0.75)
    assert build.current(tmp_path) is None


def test_a_compile_that_fails_says_why(tmp_path: Path) -> None:
    assert pretend(tmp_path, "[1/4] a.cpp", "a.cpp:3: error: no such thing", "ninja: stopped", status=1) == 1
    failed = build.current(tmp_path)
    assert failed is not None
    assert not failed.running
    assert "a.cpp:3: error: no such thing" in str(failed)
    assert list(build.until_done(tmp_path)) == []


def test_the_first_command_that_fails_is_the_last(tmp_path: Path) -> None:
    def mark(name: str, status: int) -> list[str]:
        return [sys.executable, "-c", f"open({str(tmp_path / name)!r}, 'w'); raise SystemExit({status})"]

    assert build.run([mark("a", 0), mark("b", 3), mark("c", 0)], tmp_path) == 3
    assert ((tmp_path / "b").exists(), (tmp_path / "c").exists()) == (True, False)


def test_a_compile_whose_process_is_gone_was_interrupted(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    under_way(tmp_path, pid=gone.pid)
    assert "interrupted" in str(build.current(tmp_path))


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"state": "compiling"}', "\0"])
def test_a_damaged_note_is_none(content: str, tmp_path: Path) -> None:
    (tmp_path / "llama-build.json").write_text(content)
    assert build.current(tmp_path) is None


def test_what_is_compiled_is_what_the_package_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert build.REQUIREMENT in project["dependencies"]


def test_flags_of_the_user_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CMAKE_ARGS", "-DGGML_CUDA=on")
    arguments = build._environment()["CMAKE_ARGS"]
    assert arguments.startswith("-DGGML_CUDA=on ")
    assert Path(arguments.rpartition("=")[2].strip("'")).is_file()


TILES = """
#include <immintrin.h>
#include <cstdint>
void configure() {
    struct { uint8_t palette, start, reserved[14]; uint16_t colsb[16]; uint8_t rows[16]; } tiles = {};
    tiles.palette = 1;
    for (int i = 0; i < 8; i++) { tiles.rows[i] = 16; tiles.colsb[i] = 0x5a1b; }
    _tile_loadconfig(&tiles);
}
"""


@pytest.mark.skipif(platform.machine() != "x86_64" or not shutil.which("g++"), reason="AMX is of x86, the mend GCC's")
def test_the_whole_configuration_of_amx_tiles_is_written() -> None:
    header = Path(build.__file__).with_name("amx.h")
    line = ["g++", "-O3", "-mamx-tile", "-include", str(header), "-S", "-x", "c++", "-", "-o", "-"]
    done = subprocess.run(line, input=TILES, capture_output=True, text=True)
    if "-mamx-tile" in done.stderr:
        pytest.skip("this g++ knows no AMX")
    assert "ldtilecfg" in done.stdout, done.stderr
    assert any(str(number) in done.stdout for number in (0x5A1B, 0x5A1B5A1B, 0x5A1B5A1B5A1B5A1B))


@pytest.mark.usefixtures("compiling")
def test_numpy_answers_while_llama_cpp_is_compiled() -> None:
    loaded = load.load(POCKET_DRAFT)
    assert loaded.engine == "numpy"
    tokens = loaded.prompt_tokens([Message("user", "hello")])
    assert loaded.model.forward(tokens).logits.shape == (1, loaded.model.vocab_size)


@pytest.mark.usefixtures("compiling")
def test_other_models_say_how_far_it_is_and_what_to_do(tiny_path: Path) -> None:
    with pytest.raises(PredtuiError, match=r"compiled, 43%.*pocket"):
        load.load(str(tiny_path))


def test_a_stage_with_another_model_waits_for_the_compile(
    compiling: Path, tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from predtui.predgen.stage import from_settings

    monkeypatch.setattr(build.time, "sleep", lambda _: (compiling / "llama-build.json").unlink())
    stage = from_settings(LlmSettings(model=str(tiny_path), baseline=False))
    told = [event.message for event in stage.open(StageContext(RealClock(), lambda: False, logging.getLogger("test")))]
    stage.close()
    assert "compiled, 43%" in told[0]
    assert str(tiny_path) in told[1]  # loading it, or testing first what this processor does with it
    assert "compiled" not in told[1]


@pytest.mark.usefixtures("compiling")
@pytest.mark.parametrize(("model", "works"), [("pocket", True), ("pocket-cllm", False)])
def test_doctor_says_who_answers(model: str, works: bool) -> None:
    from predtui.commands.doctor import examine, typed_turn_works

    findings = list(examine(Settings(llm=LlmSettings(model=model))))
    assert any("43%" in finding.detail for finding in findings)
    assert typed_turn_works(findings) is works
