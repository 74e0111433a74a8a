"""Whatever is wrong with a command line is one line and an exit status, of every command that the application has, and
its help is whole on a narrow terminal. A command that is added is looked at without a word here."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from predtui.commands import cli
from predtui.lab.commands.bench import BENCHES
from predtui.lab.commands.bench import command as bench_command
from tests import tiny_gguf

ROOT: Any = typer.main.get_command(cli.app)
Path_ = tuple[str, ...]


def leaves(command: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every command that runs something, with the words that name it."""
    for name, sub in command.commands.items():
        if hasattr(sub, "commands"):
            yield from leaves(sub, (*path, name))
        else:
            yield (*path, name), bench_command(name) if path == ("bench",) and name in BENCHES else sub


COMMANDS = dict(leaves(ROOT))
GROUPS = [("predtui",), *(("predtui", name) for name, sub in ROOT.commands.items() if hasattr(sub, "commands"))]
every_command = pytest.mark.parametrize("path", COMMANDS, ids=" ".join)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The command line in this process: status, standard output, standard error."""
    for folder in ("CONFIG", "STATE", "MODELS"):
        monkeypatch.setenv(f"PREDTUI_{folder}_DIR", str(tmp_path / folder.lower()))
    monkeypatch.setattr(cli, "app", ROOT)
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def command(*words: str, columns: int = 80) -> tuple[Any, str, str]:
        monkeypatch.setenv("COLUMNS", str(columns))
        out, err = io.StringIO(), io.StringIO()
        with monkeypatch.context() as streams:
            streams.setattr(sys, "stdout", out)
            streams.setattr(sys, "stderr", err)
            streams.setattr(sys, "argv", ["predtui", *words])
            with pytest.raises(SystemExit) as left:
                cli.main()
        return left.value.code, out.getvalue(), err.getvalue()

    return command


def refused(done: tuple[Any, str, str]) -> str:
    """The one line that it ended with."""
    status, out, err = done
    assert status in (1, 2), err
    assert out == ""
    assert err.startswith("predtui: ")
    assert err.count("\n") == 1, err
    assert err.endswith("\n")
    for word in ("Traceback", "Value error", "Error:", "[Errno"):
        assert word not in err
    return err


def own(path: Path_) -> list[Any]:
    """What a command takes; of the settings, which are the same everywhere, those of ``turn`` alone."""
    settings = {parameter.name for parameter in ROOT.params} - {"version"}
    taken = COMMANDS[path].params
    return list(taken) if path == ("turn",) else [one for one in taken if one.name not in settings]


def needed(path: Path_) -> list[str]:
    """What stands for the arguments that must be there."""
    arguments = [one for one in COMMANDS[path].params if one.param_type_name == "argument"]
    return [__file__ for one in arguments if one.required]


def kind(parameter: Any) -> Any:
    return parameter.type_descriptor.annotation


def given(path: Path_, parameter: Any, value: str) -> list[str]:
    """A command line on which ``parameter`` is ``value``, and whatever else must be there."""
    if parameter.param_type_name == "option":
        return [*path, *needed(path), f"{parameter.opts[-1]}={value}"]
    before = [one for one in COMMANDS[path].params if one.param_type_name == "argument"]
    return [*path, *(value if one is parameter else __file__ for one in before if one is parameter or one.required)]


@every_command
def test_an_option_that_there_is_not_and_a_word_too_many(path: Path_, run: Any) -> None:
    assert "--nosuch" in refused(run(*path, *needed(path), "--nosuch"))
    takes = [one for one in COMMANDS[path].params if one.param_type_name == "argument"]
    if all(one.nargs == 1 for one in takes):
        refused(run(*path, *[__file__] * len(takes), "surplus"))
    for one in takes:
        if one.required:
            assert "Missing argument" in refused(run(*path, *needed(path)[1:]))
            break


@every_command
def test_a_value_that_an_option_cannot_have(path: Path_, run: Any) -> None:
    for parameter in own(path):
        if parameter.type_descriptor.is_choice:
            assert "is not one of" in refused(run(*given(path, parameter, "nosuch")))
        elif kind(parameter) in (int, float):
            refused(run(*given(path, parameter, "many")))
            least = parameter.type_descriptor.parameter_info.min
            if least is not None:
                refused(run(*given(path, parameter, str(least - 1))))


@every_command
def test_a_path_that_is_none_is_refused_before_anything_begins(path: Path_, run: Any, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for parameter in own(path):
        if not parameter.type_descriptor.is_path:
            continue
        assert parameter.callback, f"{parameter.name}: see predtui/commands/inputs.py and outputs.py"
        for value in (f"{file}/x", "~nosuchuser/x", "x" * 5000):
            line = refused(run(*given(path, parameter, value)))
            assert len(line) < 400
        assert "http://host/x" in refused(run(*given(path, parameter, "http://host/x")))


def test_a_command_that_there_is_not_is_told_with_the_nearest(run: Any) -> None:
    assert "'calibrate'" in refused(run("calibrat"))
    assert "'pull'" in refused(run("models", "pul"))
    assert ": 'foo' is not one of 'llm', 'asr'. See: " in refused(run("calibrate", "foo"))


@pytest.mark.parametrize("group", [path[1:] for path in GROUPS[1:]], ids=" ".join)
def test_a_group_without_a_command_shows_its_help(group: Path_, run: Any) -> None:
    status, out, err = run(*group)
    assert (status, out) == (2, "")
    assert all(name in err for name in ROOT.commands[group[0]].commands)


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("path", [(), *COMMANDS], ids=" ".join)
def test_help_has_every_name_whole_on_any_terminal(path: Path_, columns: int, run: Any) -> None:
    command = COMMANDS[path] if path else ROOT
    brief = any(parameter.name == "help_all" for parameter in command.params)
    status, out, err = run(*path, "--help-all" if brief else "--help", columns=columns)
    assert (status, err) == (0, "")
    words = set(re.split(r"[\s,;/]+", out))
    for parameter in command.params:
        if parameter.param_type_name == "option":
            assert {*parameter.opts, *parameter.secondary_opts} <= words
    assert "…" not in out
    if not path:
        assert set(ROOT.commands) <= words


KINDS = ("missing", "folder", "random", "empty", "pipe", "unreadable", "cut")
TAKING = (
    "replay {}",
    "turn --wav {}",
    "models import {}",
    "models plan {}",
    "models remove {} --yes",
    "bench predgen --limit 1 --streams {}",
    "bench predgen --limit 1 --clock virtual --prompts {}",
    "bench asr --limit 1 --manifest {}",
    "bench words --model {}",
    "bench predgen --limit 1 --clock virtual --profile {}.toml",
    "calibrate --repeats 1 --model {}",
    "calibrate --repeats 1 --draft {}",
    "train rest --out {folder}/out --corpus {}",
    "train rest --out {folder}/out --model {}",
)


@pytest.fixture
def wrong(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """What is no file that anything here could read."""
    path = tmp_path / f"{request.param}.gguf"
    if request.param == "folder":
        path.mkdir()
    elif request.param == "random":
        path.write_bytes(bytes(range(256)) * 64)
    elif request.param == "empty":
        path.touch()
    elif request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "unreadable":
        path.symlink_to("/proc/self/mem")  # reading it fails for root, too
    elif request.param == "cut":
        path.write_bytes(tiny_gguf.write(tmp_path / "whole.gguf").read_bytes()[:3000])
    return path


@pytest.mark.parametrize("wrong", KINDS, indirect=True)
@pytest.mark.parametrize("line", TAKING)
def test_a_file_that_is_none_is_one_line(line: str, wrong: Path, run: Any, tmp_path: Path) -> None:
    words = [word.replace("{folder}", str(tmp_path)).replace("{}", str(wrong)) for word in line.split()]
    refused(run(*words))
