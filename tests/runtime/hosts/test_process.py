"""What only a process of its own does: its log, what it imports, how it is started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from predtui.clock import RealClock
from predtui.runtime.hosts import process
from predtui.runtime.hosts.process import ProcessHost
from predtui.state import events as ev
from predtui.state.stage import StageSpec
from tests.runtime.hosts.collector import Collector


def test_engines_write_to_the_log_not_to_the_screen(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = Collector()
    log = tmp_path / "log"
    host = ProcessHost(StageSpec("toy", "tests.toys:echo"), out.append, RealClock(), log)
    host.start()
    host.send(ev.Transcript(turn=1, revision=1, stable="print"))
    out.candidate("print")
    host.stop()
    assert capfd.readouterr() == ("", "")
    written = log.read_text()
    assert all(line in written for line in ("from C out", "from C err", "from python"))


def test_a_stage_process_imports_neither_the_screen_nor_the_pipeline() -> None:
    out = Collector()
    host = ProcessHost(StageSpec("toy", "tests.toys:echo"), out.append, RealClock())
    host.start()
    host.send(ev.Transcript(turn=1, revision=1, stable="modules"))
    listing = out.wait(lambda e: isinstance(e, ev.Candidate))
    host.stop()
    assert isinstance(listing, ev.Candidate)
    assert "predtui.runtime.hosts.child" in listing.prompt.split()
    assert not {"textual", "predtui.runtime.pipeline", "numpy"} & set(listing.prompt.split())


@pytest.mark.parametrize("how", ["-m", "-c", "file"])
def test_processes_start_whatever_the_app_was_started_as(how: str, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import queue\n"
        "from predtui.clock import RealClock\n"
        "from predtui.state.events import Candidate, Transcript\n"
        "from predtui.runtime.hosts.process import ProcessHost\n"
        "from predtui.state.stage import StageSpec\n"
        "out = queue.Queue()\n"
        "host = ProcessHost(StageSpec('toy', 'tests.toys:echo'), out.put, RealClock())\n"
        "host.start()\n"
        "host.send(Transcript(turn=1, revision=1, stable='hello'))\n"
        "while not isinstance(event := out.get(timeout=20), Candidate):\n"
        "    pass\n"
        "print(event.new)\n"
        "host.stop()\n"
    )
    command = {"-m": ["-m", "program"], "-c": ["-c", program.read_text()], "file": [str(program)]}[how]
    root = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(tmp_path)])}
    done = subprocess.run(
        [sys.executable, *command],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == "hello\n"


@drawn(st.lists(st.sampled_from(["slow", "dead"]), max_size=12))
def test_only_one_that_was_slow_time_after_time_is_given_more_time_and_not_for_ever(ends: list[str]) -> None:
    given: list[float] = []
    host = ProcessHost(StageSpec("llm", "x:y"), lambda event: None, RealClock())
    with pytest.MonkeyPatch.context() as patch:
        for health in ends:

            def healths(*watched: Any, health: str = health) -> Iterator[str]:
                given.append(watched[-1])
                yield health

            patch.setattr(process, "healths", healths)
            life = SimpleNamespace(process=SimpleNamespace(kill=lambda: None), hung=False)
            host._watch(life, None)  # type: ignore[arg-type]
            assert life.hung
    for at, patience in enumerate(given):
        slow = next((since for since in range(at) if "dead" not in ends[since:at]), at)
        assert patience == min(2.0 ** (at - slow), process.MOST_PATIENCE)


@pytest.mark.parametrize("threads", [1, 2])
def test_numeric_libraries_of_a_stage_keep_to_its_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the environment of the app says otherwise."""
    for library in ("OPENBLAS", "OMP"):
        monkeypatch.setenv(f"{library}_NUM_THREADS", "7")
    out = Collector()
    host = ProcessHost(StageSpec("toy", "tests.toys:pooled", threads=threads), out.append, RealClock())
    host.start()
    said = out.status("ready").message
    host.stop()
    assert json.loads(said)
    assert max(json.loads(said)) <= threads
