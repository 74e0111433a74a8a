"""What a started process inherits: for real here, and by a fake of Windows' calls."""

from __future__ import annotations

import os
import subprocess
import sys
from multiprocessing import Pipe
from typing import Any

import pytest

from predtui.system.inherit import popen_options

CHILD = "import sys; from predtui.system.inherit import End; end = End(int(sys.argv[1])); end.send(end.recv() * 2)"


def test_a_process_talks_through_the_end_that_it_inherits() -> None:
    here, there = Pipe()
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(there.fileno())],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        **popen_options([there.fileno()]),
    )
    there.close()
    here.send(21)
    assert here.poll(30)
    assert here.recv() == 42
    assert child.wait(30) == 0


def test_on_windows_the_handles_alone_are_inherited_and_ctrl_c_stays_here(monkeypatch: pytest.MonkeyPatch) -> None:
    class Startup:
        def __init__(self, lpAttributeList: dict[str, Any]) -> None:  # noqa: N803 - Windows' name
            self.attributes = lpAttributeList

    inheritable: list[tuple[int, bool]] = []
    monkeypatch.setattr(subprocess, "STARTUPINFO", Startup, raising=False)
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 512, raising=False)
    monkeypatch.setattr(os, "set_handle_inheritable", lambda *said: inheritable.append(said), raising=False)
    options = popen_options([77], windows=True)
    assert options.pop("startupinfo").attributes == {"handle_list": [77]}
    assert options == {"creationflags": 512}
    assert inheritable == [(77, True)]
