"""What make installs in front of the app, and what it says of it."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from predtui.commands import install
from predtui.commands.install import Progress, requirements
from predtui.lab.bench.servers import KINDS
from predtui.llm.llamacpp import compile as build

ROOT = Path(__file__).resolve().parents[2]


def test_everything_but_what_is_compiled_is_installed_first() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    first = requirements()
    assert set(project["dependencies"]) - set(first) == {"llama-cpp-python>=0.3.16"}


def test_an_extra_brings_what_it_names_in_turn() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    torch = project["optional-dependencies"]["torch"]
    assert set(torch) <= set(requirements("dev"))
    assert not any(line.startswith("predtui") for line in requirements("dev"))


def test_an_older_wheel_goes_before_a_newer_source(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(build, "start", lambda: 0)
    monkeypatch.setattr(install, "_pip", lambda arguments, *_: ran.append(arguments) or 0)
    assert install.install() == 0
    (packages,) = (line for line in ran if set(requirements()) <= set(line))
    assert "--prefer-binary" in packages


def test_lines_of_pip_become_a_count_and_a_name() -> None:
    progress = Progress("packages")
    assert "asking the registry" in str(progress)
    progress.note("Collecting numpy>=1.26 (from x)")
    assert "1 found, finding numpy" in str(progress)
    progress.note("Downloading https://host/path/numpy-2.1-cp311.whl (16.8 MB)")
    assert "numpy (16.8 MB)" in str(progress)
    progress.note("Installing collected packages: numpy, rich, predtui")
    assert "0 of 3 installed" in str(progress)


def test_it_starts_from_the_standard_library_alone() -> None:
    program = "import predtui.commands.install, sys; print({'numpy', 'textual', 'psutil', 'typer'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_the_servers_that_tests_ask_come_with_dev_and_not_to_users(kind: str) -> None:
    """Also those that come as an extra of the package that is compiled, which pip is not asked for."""
    package = Requirement(KINDS[kind].package)
    dev, users = ([Requirement(line) for line in requirements(extra)] for extra in ("dev", ""))
    whole = any(one.name == package.name and package.extras <= one.extras for one in dev)
    parts = set(_asked_by(package))
    assert whole or (parts and parts <= {canonicalize_name(one.name) for one in dev})
    assert not {"fastapi", "uvicorn", "xllamacpp", "openai", "transformers"} & {one.name for one in users}


def _asked_by(package: Requirement) -> Iterator[str]:
    """What the extras of a distribution ask for."""
    for line in importlib.metadata.requires(package.name) or ():
        wanted = Requirement(line)
        if wanted.marker and any(wanted.marker.evaluate({"extra": extra}) for extra in package.extras):
            yield canonicalize_name(wanted.name)
