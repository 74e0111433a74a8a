"""A machine that has hardly anything: a typed turn is answered all the same, or says why not."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

COMMAND = [sys.executable, "-m", "predtui", "turn", "--text", "what is two plus two"]


def _full() -> None:
    """Whatever is written ends after 4 kB: files, and memory that processes share."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def _few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))


def _closed() -> None:
    """Standard input and error are not open at all."""
    os.close(0)
    os.close(2)


def _nowhere() -> None:
    """The current folder is gone."""
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir(os.path.join(os.pardir, "gone"))


def _all() -> None:
    for lack in (_nowhere, _full, _closed):
        lack()


def turn(lack: Callable[[], None], folder: Path) -> subprocess.CompletedProcess[bytes]:
    """A typed turn in a process that has no home, no temporary folder, and what ``lack`` leaves it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREDTUI_", "XDG_"))}
    places = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)
    environment = {**kept, **dict.fromkeys(places, "/dev/null/none"), "PREDTUI_EMBEDDED": "1", "PYTHONPATH": path}
    return subprocess.run(
        [*COMMAND, "--engine", "numpy", "--output", "none"],
        cwd=folder, env=environment, stdout=subprocess.PIPE, preexec_fn=lack, timeout=120,
    )  # fmt: skip


def test_a_turn_is_answered_without_room_streams_or_folders(tmp_path: Path) -> None:
    done = turn(_all, tmp_path)
    assert done.returncode == 0, done.stdout
    assert re.search(rb"reply  .*\b(4|four)\b", done.stdout), done.stdout
    assert b"Traceback" not in done.stdout


def test_a_turn_is_answered_with_ten_open_files(tmp_path: Path) -> None:
    done = turn(_few_files, tmp_path)
    assert done.returncode == 0, done.stdout
    assert re.search(rb"reply  .*\b(4|four)\b", done.stdout), done.stdout
    assert b"Traceback" not in done.stdout
