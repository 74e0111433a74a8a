"""Installs what predtui needs into the environment it runs in, and says how far it is. For make, from a checkout.

llama.cpp, which has to be compiled, is begun first and goes on behind. Needs nothing but the standard library.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import threading
import time
import tomllib
from pathlib import Path

from predtui.foreign import printable, ungated
from predtui.llm.llamacpp import compile as build

ROOT = Path(__file__).resolve().parents[2]
STEP_S = 5.0
"""Between two lines where there is no terminal to write over."""
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_COMPILED = "llama-cpp-python"
_BUILDS = ("hatchling>=1.27", "editables>=0.5")
"""What installs predtui itself; an environment of its own for it costs more than all the rest of that."""


def requirements(extra: str = "") -> list[str]:
    """What pyproject.toml asks for, with an extra's if one is named, without what has to be compiled."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    wanted = [*project["dependencies"], *optional.get(extra, ()), *_BUILDS]
    for line in wanted:  # grows: an extra may name another
        if own := re.match(r"predtui\[([\w, ]+)\]", line):
            wanted += [each for name in own[1].split(",") for each in optional[name.strip()]]
    return sorted({line for line in wanted if _named(line) not in ("predtui", _COMPILED)})


def install(extra: str = "") -> int:
    """Exit status of pip, whose last lines are shown where it fails."""
    build.start()
    started = time.monotonic()
    # An older wheel rather than a newer source: pocketsphinx 5.1 has no wheel for Python 3.12, and takes a minute.
    status = _pip(["--progress-bar", "off", "--prefer-binary", *requirements(extra)], "packages", started)
    return status or _pip(["--no-deps", "--no-build-isolation", "-e", str(ROOT)], "predtui", started)


def _pip(arguments: list[str], what: str, started: float) -> int:
    child = subprocess.Popen(
        [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    progress = Progress(what)
    reader = threading.Thread(target=progress.read, args=(child,))
    reader.start()
    reported = -STEP_S
    while reader.is_alive():
        now = time.monotonic()
        if sys.stdout.isatty() or now - reported >= STEP_S:
            reported = now
            say(f"[{now - started:4.0f} s] {progress}{_behind()}")
        reader.join(0.3)
    status = child.wait()
    outcome = "done" if status == 0 else "failed"
    say(f"[{time.monotonic() - started:4.0f} s] {what}: {outcome}{_behind()}", end="\n")
    if status:
        print("\n".join(map(printable, progress.last)), file=sys.stderr)
    return status


class Progress:
    """What pip is doing, out of its lines."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._collected = 0
        self._doing = "asking the registry"
        self._to_install: list[str] = []
        self._there = _installed()
        self.last: list[str] = []

    def read(self, child: subprocess.Popen[str]) -> None:
        for line in child.stdout or ():
            self.note(line.strip())

    def note(self, line: str) -> None:
        """Take in one line of pip."""
        self.last = [*self.last[-15:], line]
        word, _, rest = line.partition(" ")
        if word == "Collecting":
            self._collected += 1
            self._doing = f"finding {_named(rest)}"
        elif word == "Downloading" or line.startswith("Using cached"):
            file, _, size = line.removeprefix("Using cached").removeprefix("Downloading").strip().partition(" ")
            self._doing = f"{file.rpartition('/')[2].split('-')[0]} {size}".strip()
        elif line.startswith("Installing collected packages:"):
            self._to_install = [name.strip() for name in line.partition(":")[2].split(",")]

    def __str__(self) -> str:
        if self._to_install:
            return f"{self._what}: {_installed() - self._there} of {len(self._to_install)} installed"
        found = f" {self._collected} found," if self._collected else ""
        return f"{self._what}:{found} {self._doing}"


def _installed() -> int:
    """How many distributions the environment holds."""
    return sum(1 for _ in Path(sysconfig.get_path("purelib")).glob("*.dist-info"))


def _behind() -> str:
    compiling = build.current()
    return f" · {compiling}" if compiling else ""


def say(line: str, end: str = "") -> None:
    """A line over the one before, where there is a terminal to write over; ``end``: what follows the last."""
    if sys.stdout.isatty():
        print(f"\r\x1b[K{printable(line)}", end=end, flush=True, file=ungated(sys.stdout))
    else:
        print(printable(line), flush=True)


def _named(requirement: str) -> str:
    found = _NAME.match(requirement)
    return found[0] if found else ""


if __name__ == "__main__":
    sys.exit(install(*sys.argv[1:2]))
