"""Compiles llama.cpp in the background while the app runs, and tells how far that is and how it ended.

``python -m predtui.llm.llamacpp.compile start`` begins the compile, ``wait`` follows it to its end; make calls both.
Must not know of models, and must not need more than the standard library.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from predtui.foreign import printable

REQUIREMENT = "llama-cpp-python>=0.3.16"
REMEDY = f"pip install '{REQUIREMENT}'"
RECOMPILE = (
    "llama.cpp was compiled for another processor, and pip kept it. Compile it for this one: "
    f"pip install --force-reinstall --no-cache-dir --no-deps '{REQUIREMENT}'"
)
COMPILE = (
    "Compile it so: pip cache remove llama_cpp_python; pip uninstall -y llama-cpp-python; "
    "python -m predtui.llm.llamacpp.compile start"
)
PATIENCE_S = 0.5
"""Seconds between two looks at its progress."""
_FLAGS = Path(__file__).with_name("llama.cmake")
_STEP = re.compile(r"\[\s*(\d+)(?:/(\d+)\]|%\])")
"""The progress that ninja prints, [3/40], and that make prints, [ 7%]."""
_NICE = 10
"""Niceness of the compile: whatever a person waits for goes first."""


@dataclass(frozen=True, slots=True)
class Build:
    """A compile under way, or one that failed for ``reason``. ``fraction``: of its steps, 0..1; ``begun``: seconds of
    the epoch; ``pid``: the process that compiles."""

    state: Literal["fetching", "compiling", "failed"]
    begun: float
    pid: int
    fraction: float = 0.0
    reason: str = ""

    @property
    def running(self) -> bool:
        return self.state != "failed"

    def __str__(self) -> str:
        if self.state == "failed":
            return f"llama.cpp could not be compiled: {self.reason}"
        return f"llama.cpp is being {'fetched' if self.state == 'fetching' else f'compiled, {self.fraction:.0%}'}"


def current(folder: Path | None = None) -> Build | None:
    """The compile that is under way in this environment, or the last one if it failed; None otherwise, and where its
    record cannot be read. ``folder``: of the record, by default the environment's root. Raises nothing."""
    try:
        build = Build(**json.loads(_file(folder).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    if build.running and not _alive(build.pid):
        return replace(build, state="failed", reason="it was interrupted")
    return build


def available() -> bool:
    """Whether llama.cpp can be imported: installed, and not just being installed."""
    build = current()
    importlib.invalidate_caches()
    return not (build and build.running) and importlib.util.find_spec("llama_cpp") is not None


def until_done(folder: Path | None = None) -> Iterator[Build]:
    """The compile under way, every ``PATIENCE_S`` seconds until it is over; ``folder`` as ``current`` takes it."""
    while (build := current(folder)) and build.running:
        yield build
        time.sleep(PATIENCE_S)


def log_file(folder: Path | None = None) -> Path:
    """Where the compile's output goes; ``folder`` as ``current`` takes it."""
    return (folder or Path(sys.prefix)) / "llama-build.log"


def start() -> int:
    """Begin the compile in the background, unless it is done or under way. Returns an exit status, always 0. Raises
    OSError where the environment cannot be written."""
    build = current()
    if available() or (build and build.running):
        return 0
    with log_file().open("w", encoding="utf-8") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "predtui.llm.llamacpp.compile", "run"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _write(Build("fetching", time.time(), child.pid))
    return 0


def compile_and_install() -> int:
    """The compile itself, in this process: a wheel first, so that the package is never there without what it needs.
    Returns the exit status of pip."""
    _yield_to_others()
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip"]
        options = ["--no-input", "--disable-pip-version-check", "--progress-bar", "off"]
        compiling = [*pip, "wheel", "-v", "--no-deps", *options, "-w", folder, REQUIREMENT]
        installing = [
            *pip,
            "install",
            *options,
            "--find-links",
            folder,
            "--only-binary",
            "llama-cpp-python",
            REQUIREMENT,
        ]
        return run([compiling, installing])


def run(commands: Sequence[Sequence[str]], folder: Path | None = None) -> int:
    """Run one command after the other and record their progress in ``folder``, as ``current`` takes it. Returns the
    exit status of the first that fails, or 0. Raises OSError where the record cannot be written."""
    build = Build("fetching", time.time(), os.getpid())
    _write(build, folder)
    for command in commands:
        lines: list[str] = []
        child = subprocess.Popen(
            command,
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        for line in child.stdout or ():
            print(line, end="", flush=True)
            lines = [*lines[-200:], line.strip()]
            if step := _STEP.match(line.strip()):
                fraction = int(step[1]) / int(step[2] or 100)
                build = replace(build, state="compiling", fraction=max(build.fraction, min(fraction, 1.0)))
                _write(build, folder)
        if child.wait():
            _write(replace(build, state="failed", reason=_reason(lines)), folder)
            return child.returncode
    _file(folder).unlink(missing_ok=True)
    return 0


def wait() -> int:
    """Begin the compile where needed and print its progress: one line that changes in a terminal, else a line for each
    tenth. Returns an exit status: 0 where llama.cpp can be imported then."""
    start()
    told = -1
    for build in until_done():
        tenth = int(build.fraction * 10)
        line = f"[{time.time() - build.begun:4.0f} s] {build}"
        if sys.stdout.isatty():
            print(f"\r\x1b[K{printable(line)}", end="", flush=True)
        elif tenth > told:
            print(printable(line), flush=True)
        told = max(told, tenth)
    if sys.stdout.isatty() and told >= 0:
        print()
    if available():
        return 0
    print(f"{current() or 'llama.cpp is not there'}. The log is {log_file()}.", file=sys.stderr)
    return 1


def _yield_to_others() -> None:
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    with contextlib.suppress(OSError):  # Linux weighs whole sessions against each other first, and this is one
        Path("/proc/self/autogroup").write_text(str(_NICE), encoding="ascii")


def _environment() -> dict[str, str]:
    arguments = f"{os.environ.get('CMAKE_ARGS', '')} {shlex.quote(f'-DCMAKE_PROJECT_llama_cpp_INCLUDE={_FLAGS}')}"
    cores = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 2)
    return os.environ | {"CMAKE_ARGS": arguments.strip(), "CMAKE_BUILD_PARALLEL_LEVEL": cores}


def _reason(lines: Sequence[str]) -> str:
    if not any(shutil.which(name) for name in ("c++", "g++", "clang++")):
        return "there is no C++ compiler (Debian, Ubuntu: sudo apt install g++)"
    errors = [line for line in lines if "error" in line.lower()] or [*lines, "no output"]
    return errors[0][:160]


def _file(folder: Path | None) -> Path:
    return (folder or Path(sys.prefix)) / "llama-build.json"


def _write(build: Build, folder: Path | None = None) -> None:
    path = _file(folder)
    beside = path.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps(asdict(build)), encoding="utf-8")
    beside.replace(path)


def _alive(pid: int) -> bool:
    """Asked before any package is installed."""
    if sys.platform == "win32":  # where signal 0 is Ctrl-C
        import psutil

        return psutil.pid_exists(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with contextlib.suppress(OSError):  # one that has ended and whose parent has not asked is none
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return True


if __name__ == "__main__":
    commands = {"start": start, "run": compile_and_install, "wait": wait}
    sys.exit(commands[sys.argv[1]]())
