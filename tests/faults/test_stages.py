"""Stages that die, hang or are left alone: seen at once, ended for good, and no process stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from predtui.clock import RealClock
from predtui.runtime.hosts.process import ProcessHost
from predtui.state import events as ev
from predtui.state.stage import StageSpec
from tests.runtime.hosts.collector import PATIENCE_S, Collector

Made = tuple[ProcessHost, Collector]


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[Made]:
    out = Collector()
    host = ProcessHost(StageSpec("toy", "tests.toys:echo"), out.append, RealClock(), tmp_path / "log")
    host.start()
    out.status("ready")
    yield host, out
    host.stop()


def say(host: ProcessHost, text: str, revision: int = 1) -> None:
    host.send(ev.Transcript(turn=1, revision=revision, stable=text, final=True))


def gone(pid: int) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid):
            return True
        time.sleep(0.02)
    return False


def test_sigkill_in_the_middle_of_work_is_an_event_and_a_restart_works(echo: Made) -> None:
    host, out = echo
    say(host, "work")
    out.candidate("step 2")
    pid = host.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert out.status("restarting").message == "toy was killed by SIGKILL (memory may have run out)."
    assert gone(pid)
    say(host, "lost")
    host.restart()
    say(host, "back", 2)
    out.candidate("back")
    assert not [e for e in out if isinstance(e, ev.Candidate) and e.new == "lost"]


@pytest.mark.parametrize(("word", "cause"), [("die", "SIGKILL"), ("segfault", "SIGSEGV")])
def test_a_crash_names_its_signal(echo: Made, word: str, cause: str) -> None:
    host, out = echo
    say(host, word)
    assert cause in out.status("restarting").message
    assert not host.alive


def test_memory_that_runs_out_is_told_with_what_to_do_and_the_stage_goes_on(echo: Made) -> None:
    host, out = echo
    process = psutil.Process(host.pid)
    process.rlimit(psutil.RLIMIT_AS, (process.memory_info().vms, psutil.RLIM_INFINITY))
    say(host, "hoard")
    told = out.status("failed").message
    assert told == "toy failed at Transcript: memory has run out. Free some memory, or choose a smaller model."
    failed = len(out)
    process.rlimit(psutil.RLIMIT_AS, (psutil.RLIM_INFINITY, psutil.RLIM_INFINITY))
    say(host, "hoard", 2)
    out.candidate("hoard")
    out.status("ready", failed)
    assert [e.state for e in out if isinstance(e, ev.StageStatus)] == ["starting", "ready", "failed", "ready"]


def test_a_library_that_finds_no_room_is_a_line_with_what_to_do() -> None:
    """numpy, in a process that may not grow: it wraps what the system says in pages of advice."""
    program = (
        "import resource\n"
        "from predtui.errors import PredtuiError\n"
        "from predtui.runtime.hosts.base import make_stage\n"
        "from predtui.state.stage import StageSpec\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "most = pages * resource.getpagesize() + (4 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))\n"
        "try:\n"
        "    make_stage(StageSpec('llm', 'numpy:absent'))\n"
        "except PredtuiError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    (line,) = done.stdout.splitlines()
    assert line.startswith("stage llm: cannot load numpy:absent: memory has run out: ")
    assert line.endswith(". Free some memory, or choose a smaller model.")


def test_a_segfault_leaves_its_stack_in_the_log(echo: Made, tmp_path: Path) -> None:
    host, out = echo
    say(host, "segfault")
    out.status("restarting")
    assert "toys.py" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("how", ["hang", "SIGSTOP", "flooded"])
def test_a_stalled_stage_is_ended_on_stop(echo: Made, how: str) -> None:
    host, out = echo
    pid = host.pid
    assert pid is not None
    if how == "hang":
        say(host, "hang")
        out.candidate("hanging")
    else:
        os.kill(pid, signal.SIGSTOP)
    if how == "flooded":
        for n in range(5_000):
            host.send(ev.Transcript(turn=1, revision=n, stable="word " * 200, final=True))
    host.stop()
    assert gone(pid)
    assert not host.alive
    assert not [e for e in out if isinstance(e, ev.StageStatus) and e.state == "restarting"]


def test_the_interrupt_key_does_not_reach_a_stage(echo: Made) -> None:
    host, out = echo
    assert host.pid is not None
    assert os.getpgid(host.pid) != os.getpgid(0)
    os.kill(host.pid, signal.SIGINT)
    say(host, "still here")
    out.candidate("still here")


def test_no_orphan_stays_when_the_app_is_killed(tmp_path: Path) -> None:
    program = (
        "import time\n"
        "from predtui.clock import RealClock\n"
        "from predtui.runtime.hosts.process import ProcessHost\n"
        "from predtui.state.events import Transcript\n"
        "from predtui.state.stage import StageSpec\n"
        "tell = lambda event: print(type(event).__name__, flush=True)\n"
        "host = ProcessHost(StageSpec('toy', 'tests.toys:echo'), tell, RealClock())\n"
        "host.start()\n"
        "host.send(Transcript(turn=1, revision=1, stable='hang'))\n"
        "print(host.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as app:
        assert app.stdout is not None
        pid = int(app.stdout.readline())
        while "Candidate" not in app.stdout.readline():
            pass
        app.kill()
    assert gone(pid)


def test_an_app_that_forgets_to_stop_its_stages_still_exits() -> None:
    program = (
        "from predtui.clock import RealClock\n"
        "from predtui.runtime.hosts.process import ProcessHost\n"
        "from predtui.state.stage import StageSpec\n"
        "host = ProcessHost(StageSpec('toy', 'tests.toys:echo'), lambda e: None, RealClock())\n"
        "host.start()\n"
        "print(host.pid)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert gone(int(done.stdout))
