"""The test run itself: a worker that dies or hangs ends it, with the test's name and a status that is not 0."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAST_OF_ITS_FILE = """
import os, signal, time
def test_first(): time.sleep(0.5)
def test_fatal(): {deed}
def test_after(): pass
"""


def run(folder: Path, deed: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A run of this project's configuration over a folder with a fatal test, while the other worker has gone idle."""
    (folder / "test_short.py").write_text("def test_nothing(): pass\n")
    (folder / "test_fatal.py").write_text(LAST_OF_ITS_FILE.format(deed=deed))
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]
    command += ["-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile", *options, str(folder)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120
    )


def test_a_process_that_dies_ends_the_run_with_the_name_of_its_test(tmp_path: Path) -> None:
    done = run(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    assert done.returncode not in (0, 5)
    assert "test_fatal.py::test_fatal" in done.stdout


def test_a_test_that_hangs_ends_the_run_with_its_stack(tmp_path: Path) -> None:
    done = run(tmp_path, "time.sleep(1000)", "--timeout", "6", "-o", "faulthandler_timeout=3")
    assert done.returncode not in (0, 5)
    assert "test_fatal.py::test_fatal" in done.stdout
    assert "in test_fatal" in done.stdout + done.stderr


def test_continuous_integration_ends_a_run_that_hangs(tmp_path: Path) -> None:
    (tmp_path / "make").write_text("#!/bin/sh\nexec sleep 1000\n")
    (tmp_path / "make").chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LIMIT": "1s"}
    done = subprocess.run([ROOT / ".ci" / "run"], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 124
    assert "ended after 1s" in done.stderr
