"""The commands as a person runs them: in a process of their own, with and without mistakes."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import wave
from pathlib import Path
from typing import Any

import pytest
import typer

from predtui.asr.whisperflow.files import find_model
from predtui.commands.cli import app
from predtui.errors import PredtuiError
from predtui.lab.commands.bench import BENCHES
from predtui.lab.commands.bench import command as bench_command
from predtui.models.shipped import place
from predtui.registry import VERIFIERS
from predtui.settings import AsrSettings
from tests import tiny_folder

PROMPT = "what is the capital of france"


@pytest.fixture
def run(tmp_path: Path) -> Any:
    def command(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PREDTUI_")}
        environment |= {"PREDTUI_CONFIG_DIR": str(tmp_path / "config"), "PREDTUI_STATE_DIR": str(tmp_path / "state")}
        environment |= {"PREDTUI_AUDIO_OUTPUT": "none", "PREDTUI_AUDIO_INPUT": "none", "PREDTUI_EMBEDDED": "1"}
        line = [sys.executable, "-m", "predtui", *arguments]
        return subprocess.run(
            line, env=environment | variables, capture_output=True, text=True, timeout=180, stdin=subprocess.DEVNULL
        )

    return command


def events(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_typed_turn_as_json_ends_with_its_summary(run: Any) -> None:
    done = run("turn", "--text", PROMPT, "--cps", "40", "--json")
    assert done.returncode == 0, done.stderr
    lines = events(done)
    summary = lines[-1]["summary"]
    assert {
        "prompt", "reply", "audio_latency_ms", "ttfs_ms", "nfetfs", "outcome", "lossless", "baseline_audio_latency_ms",
        "verdicts",
    } <= summary.keys()  # fmt: skip
    assert summary["prompt"] == PROMPT
    assert "Paris" in summary["reply"]
    assert summary["lossless"] is True
    assert summary["audio_latency_ms"] > 0
    assert summary["verdicts"][-1]["final"]
    kinds = [line["type"] for line in lines[:-1]]
    assert kinds.index("Verdict") < kinds.index("ReplyCommitted") < kinds.index("Baseline")


def test_without_a_terminal_one_example_turn_is_played(run: Any) -> None:
    done = run()
    assert done.returncode == 0, done.stderr
    assert "one example turn" in done.stdout
    assert "first audio" in done.stdout
    assert "identical to plain decoding" in done.stdout


def test_a_turn_wants_one_kind_of_input(run: Any) -> None:
    for arguments in ((), ("--text", "  "), ("--text", "a", "--wav", "README.md")):
        done = run("turn", *arguments)
        assert done.returncode == 2
        assert "either --text or --wav" in done.stderr
        assert "Traceback" not in done.stderr


def test_an_unknown_setting_names_the_nearest(run: Any) -> None:
    done = run("doctor", PREDTUI_LLM_MODLE="x")
    assert done.returncode == 2
    assert "Did you mean PREDTUI_LLM_MODEL" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_model_that_is_not_there_is_named_with_a_remedy(run: Any, tmp_path: Path) -> None:
    done = run("turn", "--text", "hello", "--model", str(tmp_path / "absent.gguf"))
    assert done.returncode == 1
    assert "absent.gguf" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_turn_runs_on_either_engine(run: Any, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    folder = tiny_folder.write(tmp_path / "tiny")
    done = run("turn", "--text", "why", "--engine", "torch", "--model", str(folder), "--tts", "none", "--json")
    assert done.returncode == 0, done.stderr
    lines = events(done)
    assert any(line.get("message", "").endswith("torch · cpu") for line in lines)
    assert lines[-1]["summary"]["lossless"]
    assert "tiny (llama, " in run("doctor", PREDTUI_LLM_ENGINE="torch", PREDTUI_LLM_MODEL=str(folder)).stdout
    done = run("turn", "--text", "why", "--engine", "torch", "--model", str(tmp_path / "absent"))
    assert "absent" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_sound_file_is_looked_at_before_anything_is_started(run: Any, tmp_path: Path) -> None:
    text, noise, empty, pipe, silent = (tmp_path / f"{name}.wav" for name in ("text", "noise", "empty", "pipe", "long"))
    text.write_bytes(b"this is text, not sound" * 20)
    noise.write_bytes(random.Random(0).randbytes(1 << 20))
    empty.touch()
    os.mkfifo(pipe)
    with wave.open(str(silent), "wb") as file:
        file.setparams((1, 1, 100, 0, "NONE", ""))
        file.writeframes(bytes(100 * 3600))
    wrong = {
        text: "is not a sound file",
        noise: "is not a sound file",
        empty: "is empty",
        pipe: "is not a file",
        tmp_path: "is not a file",
        tmp_path / "absent.wav": "does not exist",
        silent: "lasts 60 minutes, and a turn 10 at most",
    }
    for path, why in wrong.items():
        done = run("turn", "--wav", str(path), "--record", str(tmp_path / "session"))
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
        assert f"{path} {why}" in done.stderr
    assert not (tmp_path / "session").exists()


def test_the_doctor_finds_what_a_typed_turn_needs(run: Any) -> None:
    done = run("doctor")
    assert done.returncode == 0, done.stdout
    assert "A typed turn works here." in done.stdout
    done = run("doctor", PREDTUI_LLM_MODEL="/absent/model.gguf")
    assert done.returncode == 1
    assert "✗ language model" in done.stdout


def test_nothing_heavy_is_imported_by_the_command_line() -> None:
    heavy = ("torch", "transformers", "llama_cpp", "textual", "numpy", "faster_whisper", "pocketsphinx", "sounddevice")
    code = f"import sys, predtui.commands.cli; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_recorded_turn_is_replayed_and_drawn(run: Any, tmp_path: Path) -> None:
    folder, picture = tmp_path / "session", tmp_path / "screen.svg"
    assert run("turn", "--text", PROMPT, "--cps", "40", "--record", str(folder)).returncode == 0
    told = run("replay", str(folder), "--speed", "1000")
    assert told.returncode == 0, told.stderr
    assert "Paris" in told.stdout
    drawn = run("replay", str(folder), "--screenshot", str(picture))
    assert drawn.returncode == 0, drawn.stderr
    assert "CONVERSATION" in picture.read_text()
    again = run("turn", "--text", PROMPT, "--record", str(folder))
    assert again.returncode == 2
    assert "holds a session already" in again.stderr
    assert run("replay", str(folder), "--screenshot", str(picture), "--size", "wide").returncode == 2


def test_silence_is_said_to_be_silence(run: Any, tmp_path: Path) -> None:
    quiet = tmp_path / "quiet.wav"
    with wave.open(str(quiet), "wb") as file:
        file.setparams((2, 1, 8000, 0, "NONE", ""))
        file.writeframes(b"\x80" * 16000)
    done = run("turn", "--wav", str(quiet))
    assert done.returncode == 1
    assert "Heard nothing." in done.stdout


def test_the_predgen_bench_on_a_profile_measured_here(run: Any, tmp_path: Path) -> None:
    missing = run("bench", "predgen", "--clock", "virtual", "--profile", "this-machine", "--limit", "1")
    assert missing.returncode == 2
    assert "predtui calibrate" in missing.stderr
    measured = run("calibrate", "--engine", "scripted", "--repeats", "1")
    assert measured.returncode == 0, measured.stderr
    out = tmp_path / "out.json"
    done = run(
        "bench", "predgen", "--clock", "virtual", "--profile", "this-machine", "--limit", "1", "--json", str(out)
    )
    assert done.returncode == 0, done.stderr
    assert [row["identical_share"] for row in json.loads(out.read_text())["rows"]] == [1.0, 1.0]


@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(run: Any, option: str) -> None:
    for target in ("/nowhere/out", "/"):
        done = run("bench", "predgen", "--methods", "no such method", option, target)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{target} cannot be written" in done.stderr


@pytest.mark.parametrize(
    "command",
    ["calibrate --out", "calibrate asr --plot", "train cllm --out", "train pocket --out", "train asr --out",
     "train rest --out", "bench record --out", "replay assets/sessions/example --screenshot"],
)  # fmt: skip
def test_no_command_works_for_what_it_cannot_write(run: Any, tmp_path: Path, command: str) -> None:
    (tmp_path / "file").touch()
    done = run(*command.split(), str(tmp_path / "file" / "out"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "cannot be written" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "utf-8:strict"])
def test_no_prompt_steers_the_terminal_or_fails_to_be_written(run: Any, encoding: str) -> None:
    done = run("turn", "--text", "hi \x1b[31m\udcff é", "--cps", "200", "--tts", "none", PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("problem", ["", "settings.toml: line 3"])
def test_the_sound_check_ends_without_devices_and_without_a_terminal(run: Any, problem: str, tmp_path: Path) -> None:
    if problem:
        (tmp_path / "settings.toml").write_text("[audio\n")
    own = {"PREDTUI_CONFIG_DIR": str(tmp_path)}
    done = run("doctor", "--sound", "--input", "none", "--output", "none", **own)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert len(lines) == 3 + bool(problem)
    assert "the loudspeaker is switched off" in lines[-3]
    assert "the microphone is switched off" in lines[-2]
    assert "does not work yet" in lines[-1]
    assert done.stderr == ""
    assert "settings.toml" in lines[0] or not problem


def test_the_doctors_marks_differ_in_ascii_too(run: Any) -> None:
    done = run("doctor", PYTHONIOENCODING="ascii", PREDTUI_LLM_MODEL="/absent/model.gguf")
    assert "x language model" in done.stdout
    assert "+ python" in done.stdout
    assert "see the lines marked x." in done.stdout


def test_a_turn_that_cannot_start_ends_with_a_summary_all_the_same(run: Any, tmp_path: Path) -> None:
    done = run("turn", "--text", "hi", "--json", "--model", str(tmp_path))
    assert done.returncode == 1
    lines = events(done)
    assert "is a folder, not a GGUF file" in str(lines)
    assert lines[-1]["summary"]["reply"] == ""


@pytest.mark.parametrize("size", ["9x9", "0x0", "99999x99999", "120", "ax3"])
def test_a_picture_has_a_size_that_can_be_drawn(run: Any, tmp_path: Path, size: str) -> None:
    done = run("replay", "assets/sessions/example", "--screenshot", str(tmp_path / "x.svg"), "--size", size)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "columns and lines, as in 120x36" in done.stderr
    assert not (tmp_path / "x.svg").exists()


def test_a_recording_of_the_screen_needs_a_terminal(run: Any) -> None:
    done = run("record")
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs a terminal" in done.stderr


def test_settings_before_the_command_are_its_own(run: Any) -> None:
    done = run("--model", "nosuch.gguf", "doctor")
    assert (done.returncode, "There is no model file nosuch.gguf" in done.stdout) == (1, True)
    done = run("--model", "nosuch.gguf", "doctor", "--model", "pocket")
    assert (done.returncode, "nosuch" in done.stdout) == (0, False), "what stands after the command wins"


@pytest.mark.parametrize("arguments", [("--verifier", "gredy", "turn"), ("turn", "--verifier", "gredy")])
def test_a_mistyped_value_is_refused_before_and_after_the_command(run: Any, arguments: tuple[str, ...]) -> None:
    done = run(*arguments, "--text", "hi")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert f"'gredy' is not one of {', '.join(VERIFIERS)}" in done.stderr


def leaves(command: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every command that runs something, with its path."""
    if not hasattr(command, "commands"):
        return [(path, command)]
    return [leaf for name, sub in command.commands.items() for leaf in leaves(sub, (*path, name))]


def takes_settings(command: Any) -> bool:
    return "tts_seed" in {parameter.name for parameter in command.params}


OTHERS = [
    (path, command)
    for path, command in leaves(typer.main.get_command(app))
    if path[0] != "bench" and not takes_settings(command)
]


@pytest.mark.parametrize(("path", "command"), OTHERS, ids=[" ".join(path) for path, _ in OTHERS])
def test_a_command_without_a_setting_refuses_it_before_its_name(path: tuple[str, ...], command: Any) -> None:
    needed = [__file__ for parameter in command.params if parameter.required]  # a path, where one is wanted
    with pytest.raises(PredtuiError, match="does not take --tts-seed from before its name"):
        app(["--tts-seed", "7", *path, *needed], standalone_mode=False)


@pytest.mark.parametrize("name", BENCHES)
def test_a_benchmark_without_a_setting_refuses_it_before_its_name(name: str) -> None:
    """Its options are known once its module is imported."""
    if not takes_settings(command := bench_command(name)):
        test_a_command_without_a_setting_refuses_it_before_its_name(("bench", name), command)


@pytest.mark.parametrize(
    ("command", "option", "read"),
    [
        ("train pocket", "out", place("pocket").parent),
        ("train pocket", "out", place("pocket-draft").parent),
        ("train asr", "out", find_model(AsrSettings(model="pocket")).parent),
        ("train hush", "model", find_model(AsrSettings(model="pocket")).parent),
    ],
)
def test_what_is_trained_is_written_where_it_is_read(command: str, option: str, read: Path) -> None:
    trainer = dict(leaves(typer.main.get_command(app)))[tuple(command.split())]
    written = next(parameter.default for parameter in trainer.params if parameter.name == option)
    assert Path(written).absolute() == read


def test_a_bench_that_is_to_measure_nothing_is_refused(run: Any) -> None:
    done = run("bench", "latency", "--no-typed", "--no-spoken", "--no-hands-free")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothing to measure" in done.stderr
